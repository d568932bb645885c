# Each subcommand of LSF is known.
badmin mbdrestart
echo status $?
badmin hist
badmin nonsense
echo status $?
badmin showconf mbd | grep -w DEFAULT_QUEUE
badmin qclose
echo status $?
