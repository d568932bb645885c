bsub -I 'exit 5' >/dev/null 2>&1
echo status $?
