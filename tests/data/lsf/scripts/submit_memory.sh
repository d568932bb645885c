id=$(bsub -M 200M -R "rusage[mem=100]" sleep 60 | grep -oE '[0-9]+' | head -1)
bjobs -o "memlimit" $id
bkill $id >/dev/null
