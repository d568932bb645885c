bsub -Is 'test -t 1 && echo a terminal' 2>/dev/null | tr -d '\r'
