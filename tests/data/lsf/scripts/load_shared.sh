# The values of string resources, by resource and host.
lsload -s | sed 's/  */ /g'
lsload -s -noheader os_version -o "location value delimiter=','"
lsload -R "select[os_version=='4.0']" -o host_name -noheader
lsload -s nothing
echo status $?
