id=$(bsub -J json sleep 60 | grep -oE '[0-9]+' | head -1)
bjobs -json -o "queue job_name exit_code" $id
bkill $id >/dev/null
