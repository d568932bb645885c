bsub -gpu num=1 true
echo status $?
