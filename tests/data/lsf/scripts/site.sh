lsid | sed -n 3p
lshosts -w n1 | awk '{print $1, $2, $3}'
bapp | awk '{print $1}'
bparams | head -1
