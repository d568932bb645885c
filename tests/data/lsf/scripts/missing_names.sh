# What LSF says of a name that does not exist.
bhosts nowhere
echo status $?
bqueues nowhere
echo status $?
bapp nowhere
busers nobody_of_this_name
lsload nowhere
lshosts nowhere
bjobs 999999
bsub -q nowhere true
bsub -m nowhere true
