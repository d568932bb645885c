# The events of a job, and the time in its states.
id=$(bsub -J life -n 2 -R "span[hosts=1]" -q night 'exit 3' | grep -oE '[0-9]+' | head -1)
bwait -w "ended($id)"
bhist -l -UF $id | sed 's/<n[12]>/<NODE>/g;s/<2\*n[12]>/<2*NODE>/g;s/^  [0-9].*/  TIMES/'
bhist -UF $id | grep -c 'Dispatched 2 Task(s) on Host(s) <2\*n[12]>, Allocated 2 Slot(s)'
