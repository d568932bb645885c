BSUB_QUIET=1 bsub -K true
echo status $?
