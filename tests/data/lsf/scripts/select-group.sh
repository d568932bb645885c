# Jobs on the hosts of a group.
job=$(bsub -J onboth -m n2 sleep 600 | tr -dc '0-9')
bwait -w "started($job)"
bjobs -noheader -o "job_name exec_host" -m both -J onboth
bjobs -noheader -o "job_name exec_host" -m "n1 nosuch" -J onboth
bkill -m both -J onboth
