# The estimated end, what is left, and the part that is over.
id=$(bsub -W 10:00 -J left sleep 300 | grep -oE '[0-9]+' | head -1)
bwait -w "started($id)"
bjobs -WL -noheader $id | awk '{print $NF, $(NF-1)}' | sed 's/9:59/10:0/'
bjobs -WF -noheader $id | awk '{print $NF}'
bjobs -WP $id | awk 'NR == 1 {print $NF} NR == 2 {print $(NF-1), $NF}' | sed 's/0\.[0-9]*%/0%/'
bkill $id >/dev/null
