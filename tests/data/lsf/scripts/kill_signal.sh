id=$(bsub -o out 'trap "echo got it; exit 0" USR1; echo ready; while :; do sleep 0.1; done' | grep -oE '[0-9]+' | head -1)
until grep -q ready out 2>/dev/null; do sleep 0.1; done
bkill -s USR1 $id
bwait -w "ended($id)"; grep -x "got it" out
