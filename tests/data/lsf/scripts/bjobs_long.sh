id=$(bsub -J long -n 2 -W 10 sleep 60 | grep -oE '[0-9]+' | head -1)
bjobs -UF $id | grep -c "Job Name <long>"
bjobs -l $id | tr -d '\n' | grep -o "RUNLIMIT 10.0 min"
bkill $id >/dev/null
