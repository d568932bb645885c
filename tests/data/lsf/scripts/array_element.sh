id=$(bsub -J "a3[1-3]" sleep 60 | grep -oE '[0-9]+' | head -1)
bkill "$id[2]" >/dev/null
bwait -w "ended($id[2])"
bjobs -noheader -o "jobindex stat delimiter=':'" "$id[2]"
bkill $id >/dev/null
