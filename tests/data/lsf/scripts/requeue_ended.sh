# The elements of an array that failed run again, and a job that runs is requeued and held.
id=$(bsub -J 'retry[1-4]' -o /dev/null 'test -e fixed || exit $((LSB_JOBINDEX % 2))' | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "ended($id)"
bjobs -a -noheader -o stat $id | sort | uniq -c | tr -s ' '
touch fixed
brequeue -e $id | sed "s/<$id/<ID/"
bwait -t 1 -w "ended($id)"
bjobs -a -noheader -o stat $id | sort | uniq -c | tr -s ' '
brequeue -e $id
echo status $?
brequeue $id
echo status $?
run=$(bsub -J again sleep 300 | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "started($run)"
brequeue -H $run
until bjobs -noheader -o stat $run | grep -q PSUSP; do sleep 0.1; done
bresume $run
bwait -t 1 -w "started($run)" && bkill $run
