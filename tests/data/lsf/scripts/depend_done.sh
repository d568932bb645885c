bsub -J dep1 'sleep 0' >/dev/null
bsub -K -w 'done(dep1)' -o out echo after 2>/dev/null
output out
