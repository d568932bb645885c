bsub -R "select[mem>" true
echo status $?
