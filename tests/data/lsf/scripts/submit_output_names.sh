bsub -K -J "o[2]" -o "out.%I" -e "err.%I" 'echo to out; echo to err >&2' 2>/dev/null
output out.2 err.2
