# Variables that name the fields of a listing; an option of the line is preferred.
export LSB_BQUEUES_FORMAT='queue_name priority' LSB_BHOSTS_FORMAT="host_name max delimiter=','"
export LSF_LSLOAD_FORMAT='host_name' LSF_LSHOSTS_FORMAT='host_name model'
bqueues night
bhosts
bhosts -noheader -o host_name n1
bhosts -w | head -1 | grep -c STATUS
lsload n1
lshosts n2
