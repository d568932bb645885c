id=$(bsub -H -J d -Jd "night run 7" true | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o "job_description" $id
bmod -Jd "night run 8" $id >/dev/null
bjobs -noheader -o "description delimiter=','" $id
bjobs -UF $id | grep -o 'Job Description <[^>]*>'
bmod -Jdn $id >/dev/null
bjobs -noheader -o "description delimiter=','" $id
bkill $id >/dev/null
