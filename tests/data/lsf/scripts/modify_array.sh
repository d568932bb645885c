# All elements of an array change together; its indices stay.
id=$(bsub -b 2099:1:1:0:0 -J 'many[1-3]%1' true | grep -oE '[0-9]+' | head -1)
bmod -q night -J '%2' $id
bmod -q night "$id[2]"
bmod -J other $id
bjobs -noheader -o "job_name queue delimiter=','" $id | sort
bmod -bn $id
bwait -t 1 -w "done($id)"
bjobs -a -noheader -o stat $id | sort | uniq -c | tr -s ' '
