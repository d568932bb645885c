# The history of jobs on one host; what the history does not know is refused.
a=$(bsub -J hh1 -m n1 true | grep -oE '[0-9]+' | head -1)
b=$(bsub -J hh2 -m n2 true | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "done($a) && done($b)"
bhist -m n1 $a $b | awk 'NR > 2 {print $3}'
bacct -m n2 $a $b | grep -E 'executed|done jobs' | tr -s ' '
bhist -m nowhere $a
bacct -app solver
echo status $?
