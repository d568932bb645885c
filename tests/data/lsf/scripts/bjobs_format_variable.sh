id=$(bsub -J fmt sleep 60 | grep -oE '[0-9]+' | head -1)
LSB_BJOBS_FORMAT="job_name queue" bjobs $id
bkill $id >/dev/null
