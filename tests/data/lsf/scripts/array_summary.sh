id=$(bsub -J "a4[1-3]" true | grep -oE '[0-9]+' | head -1)
bwait -w "done($id)"
bjobs -A $id | awk 'NR == 2 {print $2, $4, $6}'
