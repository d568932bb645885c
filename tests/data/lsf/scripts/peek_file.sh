id=$(bsub -o out 'echo so far; sleep 60' | grep -oE '[0-9]+' | head -1)
until grep -q so out 2>/dev/null; do sleep 0.1; done
bpeek $id
bkill $id >/dev/null
