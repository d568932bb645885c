bjobs 999999
echo status $?
bjobs -J never_submitted
echo status $?
bjobs abc
echo status $?
