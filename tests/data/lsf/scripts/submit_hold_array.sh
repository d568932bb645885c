id=$(bsub -H -J "held[1-3]" true | grep -oE '[0-9]+' | head -1)
bresume "$id[2]"
bwait -w "done($id[2])"
bjobs -noheader -o "jobindex stat delimiter=' '" $id
bkill $id >/dev/null
