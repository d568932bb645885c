bsub -K -J "part[2]" -o out.%I -e err.%I 'echo to out; echo to err >&2' >/dev/null 2>&1
grep '^Subject' out.2 | sed 's/Job [0-9]*/Job ID/'
grep '^Read file' out.2
cat err.2
