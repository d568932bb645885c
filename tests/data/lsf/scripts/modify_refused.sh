# What bmod does not change.
bmod -q night 999999
bmod 1
id=$(bsub -b 2099:1:1:0:0 true | grep -oE '[0-9]+' | head -1)
bmod -q nowhere $id
bmod -W 5 -Wn $id 2>&1 | head -1
bmod -J 'a[1-3]' $id
bmod -R 'select[' $id >/dev/null 2>&1 || echo refused
bjobs -noheader -o "queue" $id
bkill $id >/dev/null
id=$(bsub sleep 300 | grep -oE '[0-9]+' | head -1)
until [ "$(bjobs -noheader -o stat $id)" = RUN ]; do sleep 0.1; done
bmod -q night $id
bkill $id >/dev/null
