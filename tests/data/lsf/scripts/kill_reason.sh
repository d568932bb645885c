# Why a job was killed (-C), for the job's list and its history.
id=$(bsub -J why sleep 300 | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "started($id)"
bkill -C "its input is wrong" $id
bwait -t 1 -w "ended($id)"
bjobs -a -noheader -o "kill_reason exit_reason delimiter='|'" $id
bhist -UF $id | grep -c 'its input is wrong'
