id=$(bsub -J fields -P science -q night sleep 60 | grep -oE '[0-9]+' | head -1)
bjobs -o "queue proj_name job_name" $id
bjobs -o "queue:-12 job_name:3 delimiter='|'" -noheader $id
bkill $id >/dev/null
