bsub -nonsense 1 true
echo status $?
