brsvs
echo status $?
brsvadd -n 1
echo status $?
