bsub < job.lsf
