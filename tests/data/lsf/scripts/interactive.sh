bsub -I 'echo from the job' 2>/dev/null
