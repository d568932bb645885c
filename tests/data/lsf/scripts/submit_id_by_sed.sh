# The id, as most scripts find it.
id=$(bsub -o /dev/null sleep 0 | sed 's/Job <\([0-9]*\)>.*/\1/')
bwait -w "ended($id)"
bjobs -noheader -o stat $id
