bsub -K 'exit 7'
echo status $?
