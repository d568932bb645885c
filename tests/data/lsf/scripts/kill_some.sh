id=$(bsub sleep 60 | grep -oE '[0-9]+' | head -1)
bkill $id 999999 2>&1
