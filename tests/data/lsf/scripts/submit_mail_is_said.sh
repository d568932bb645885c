bsub -N -u lisa@example.org true
