# A field without a width is not cut; with a colon it has the recommended width, or that one.
id=$(bsub -H -J a_name_of_many_letters true | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o "job_name" $id
bjobs -noheader -o "job_name: stat" $id
bjobs -noheader -o "job_name:12 stat:3" $id
bjobs -noheader -o "job_name:-24 stat:-7 jobindex" $id
bjobs -noheader -o "job_name queue: delimiter='|'" $id
bkill $id >/dev/null
