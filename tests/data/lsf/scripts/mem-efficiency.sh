# How much of the memory that it has reserved a job used at most.
job=$(bsub -R "rusage[mem=2000]" "x=\$(head -c 100000000 /dev/zero | tr '\\0' x); true" | tr -dc '0-9')
bwait -w "ended($job)"
bjobs -noheader -o "stat mem_eff" $job | sed 's/[0-9][0-9]*\.[0-9][0-9]%/N%/'
bjobs -noheader -o "mem_eff" $job | awk '{ print ($1 + 0 > 4 && $1 + 0 < 50) ? "in between" : $1 }'
job=$(bsub true | tr -dc '0-9')
bwait -w "ended($job)"
bjobs -noheader -o "stat mem_eff" $job
