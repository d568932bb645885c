id=$(bsub 'echo so far; sleep 60' | grep -oE '[0-9]+' | head -1)
until bpeek $id 2>/dev/null | grep -q so; do sleep 0.1; done
bpeek $id
bkill $id >/dev/null
