bsub -J dep2 'exit 4' >/dev/null
bsub -K -w 'exit(dep2, 4)' -o out echo cleanup 2>/dev/null
output out
