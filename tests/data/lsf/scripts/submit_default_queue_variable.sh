LSB_DEFAULTQUEUE=night bsub true
