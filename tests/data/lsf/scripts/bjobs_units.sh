# A unit after the second colon, and every field at once.
id=$(bsub -H -J units -M 1572864KB true | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o "memlimit::G memlimit:8:M memlimit:-10:KB delimiter=','" $id
bjobs -noheader -o "memlimit" $id | sed 's/ *$//'
bjobs -noheader -o "stat::G" $id
bjobs -o all $id | head -1 | tr -s ' ' '\n' | grep -cE '^(JOBID|PENDSTATE|%COMPLETE|HRUSAGE|EFFECTIVE_PLIMIT|KILL_REASON)$'
bjobs -o "all:3 delimiter='^'" -noheader $id | tr '^' '\n' | awk 'length($0) > 3' | wc -l
bkill $id >/dev/null
