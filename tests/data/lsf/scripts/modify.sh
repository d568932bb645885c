# A job that waits gets another queue, name, size and project; then it may start, with
# another command and an output file.
id=$(bsub -b 2099:1:1:0:0 -J one -W 10 -P old 'echo old' | grep -oE '[0-9]+' | head -1)
bmod -q night -J two -n 3 -P chip $id
bjobs -noheader -o "job_name queue nreq_slot proj_name delimiter=','" $id
bmod -Jn -nn -Wn $id
bjobs -noheader -o "queue nreq_slot proj_name delimiter=','" $id
bmod -bn -Z 'echo new' -o out $id
bwait -t 1 -w "done($id)"
grep -x new out
bhist -l $id | grep -c 'Parameters of Job are changed'
