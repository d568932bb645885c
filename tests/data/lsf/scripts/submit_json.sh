bsub -json true | python3 -c 'import json,sys; print(sorted(json.load(sys.stdin)))'
