id=$(bsub -b 23:59 true | grep -oE '[0-9]+' | head -1)
bswitch night $id
bjobs -noheader -o queue $id
bkill $id >/dev/null
