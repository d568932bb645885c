id=$(bsub true | grep -oE '[0-9]+' | head -1)
bwait -w "$id" && bjobs -o "stat exit_code" -noheader $id
