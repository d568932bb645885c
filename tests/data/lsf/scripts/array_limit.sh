id=$(bsub -J "a2[1-3]%1" sleep 60 | grep -oE '[0-9]+' | head -1)
while [ "$(bjobs -noheader -r $id 2>/dev/null | wc -l)" != 1 ]; do sleep 0.1; done
bjobs -noheader -o "jobindex stat delimiter=':'" $id
bkill $id >/dev/null
