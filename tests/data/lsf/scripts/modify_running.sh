# A job that runs gets more time and memory; all else of it stays.
id=$(bsub -W 60 -M 100M sleep 300 | grep -oE '[0-9]+' | head -1)
until [ "$(bjobs -noheader -o stat $id)" = RUN ]; do sleep 0.1; done
bmod -W 1:30 -M 200M $id
bjobs -noheader -o "runtimelimit memlimit stat delimiter=','" $id
bmod -q night $id
bmod -r $id
bmod -Wn $id >/dev/null 2>&1 || echo status $?
bkill $id >/dev/null
