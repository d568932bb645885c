# Checkpoints are refused with what to do instead, also if a script asks for them.
bsub -k /tmp true
echo status $?
printf '#BSUB -k "ckpt 10"\ntrue\n' | bsub
echo status $?
