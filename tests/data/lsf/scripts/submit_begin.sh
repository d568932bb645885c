id=$(bsub -b 23:59 true | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o "stat" $id
bkill $id
