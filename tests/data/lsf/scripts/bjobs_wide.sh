id=$(bsub -J a_rather_long_name_of_a_job sleep 60 | grep -oE '[0-9]+' | head -1)
bjobs -noheader $id | awk '{print $7}'
bjobs -w -noheader $id | awk '{print $7}'
bkill $id >/dev/null
