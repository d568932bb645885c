a=$(bsub true | grep -oE '[0-9]+' | head -1)
b=$(bsub -w "done($a)" true | grep -oE '[0-9]+' | head -1)
bsub -K -w "done($b)" 'echo last' 2>/dev/null
