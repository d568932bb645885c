# A job to the default queue.
bsub true
