bsub -q night true
