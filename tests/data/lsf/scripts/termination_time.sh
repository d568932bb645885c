# A termination time (-t): shown, changed and taken away; what cannot be is refused.
id=$(bsub -H -t 2099:12:24:18:00 -W 10 true | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o "specified_terminate_time" $id | sed 's/ *$//'
bmod -t 2099:12:25:18:00 $id
bmod -tn $id
bjobs -noheader -o "sterminate_time" $id | sed 's/ *$//'
bsub -t 2020:12:24:18:00 true
echo status $?
bsub -t tomorrow true
echo status $?
bkill $id >/dev/null
