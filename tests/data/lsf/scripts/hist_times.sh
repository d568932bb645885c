# Events in the order of their times, and jobs of a span of time.
a=$(bsub -J first true | grep -oE '[0-9]+' | head -1)
b=$(bsub -J second -w "done($a)" true | grep -oE '[0-9]+' | head -1)
bwait -w "done($b)"
bhist -t $a $b | grep -E 'Submitted|Done' | sed "s/<$a>/<A>/;s/<$b>/<B>/" | cut -d' ' -f 4-7 | sed 's/[0-9:]* Job/Job/'
bhist -t -T 2001/01/01/00:00,2001/01/02/00:00 $a $b
bhist -S 2098/01/01/00:00,2099/01/01/00:00 $a
bhist -C 2001/01/01/00:00,. -q normal $a | awk 'NR == 3 {print $3}'
bhist -D yesterday $a
echo status $?
