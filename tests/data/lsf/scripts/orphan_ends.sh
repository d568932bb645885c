# A job that depends on one that failed ends with -ti, and waits without it.
first=$(bsub -H 'exit 1' | grep -oE '[0-9]+' | head -1)
orphan=$(bsub -ti -w "done($first)" true | grep -oE '[0-9]+' | head -1)
waits=$(bsub -w "done($first)" true | grep -oE '[0-9]+' | head -1)
bresume $first >/dev/null
bwait -t 1 -w "ended($orphan)"
bjobs -noheader -a -o "stat exit_reason delimiter=' '" $orphan
bjobs -noheader -o "stat pendstate delimiter=' '" $waits
bmod -ti $waits
bwait -t 1 -w "ended($waits)" && bjobs -noheader -a -o stat $waits
bsub -ti true
echo status $?
