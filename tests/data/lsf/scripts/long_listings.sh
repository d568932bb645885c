# Hosts and queues in full, as LSF lays them out.
bhosts -l n1 | sed -E '3s/.*/NUMBERS/;/^ (Total|Reserved)/s/ {2,}.*/ .../'
bqueues -l night | sed -E '/^ 40/s/( +[0-9]+){5}$/ NUMBERS/'
bqueues -l | grep -c '^QUEUE: '
bqueues -r night | head -2 | tail -1
bhosts -l nowhere
echo status $?
