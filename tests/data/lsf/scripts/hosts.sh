bhosts -w n1 | awk '{print $1, $2, $4}'
bhosts -noheader -o "host_name max delimiter=','"
bhosts nowhere
echo status $?
