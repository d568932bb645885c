bqueues -noheader -o "queue_name priority status delimiter=' '"
bqueues -w normal | awk '{print $1, $2, $3}' 
