# What the hosts are, and how many slots are free.
lsinfo -m | cut -c 1-30
lsinfo -t
lsload -I ut:mem | sed -n '1s/  */ /gp'
lsload -I nonsense
echo status $?
lshosts -s os_version -noheader | tr -s ' '
bslots -l | head -1
bslots -n 10000
echo status $?
bslots -R "type==SPARC"
echo status $?
