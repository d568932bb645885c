bsub -q nowhere true
echo status $?
