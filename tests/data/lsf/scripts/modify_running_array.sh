# An array of which one element runs, one waits, and one has ended.
id=$(bsub -J "m[1-3]%1" 'test $LSB_JOBINDEX = 1 || sleep 300' | grep -oE '[0-9]+' | head -1)
until bjobs -a -noheader -o "jobindex stat delimiter=':'" $id | grep -q 2:RUN; do sleep 0.1; done
bmod -W 90 $id
bjobs -a -noheader -o "jobindex stat runtimelimit delimiter=':'" $id
bkill $id >/dev/null
