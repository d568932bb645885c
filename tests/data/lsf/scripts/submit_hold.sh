# A job that is held does not start until somebody resumes it.
id=$(bsub -H -J held true | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o stat $id
bsub -w "ended($id)" -J behind true >/dev/null
bjobs -noheader -o stat -J behind
bresume $id
bwait -w 'done(behind)'
bjobs -noheader -o stat $id
