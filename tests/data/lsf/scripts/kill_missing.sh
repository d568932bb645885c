bkill 999999
echo status $?
