id=$(bsub -J "a1[1-4]" 'exit $((LSB_JOBINDEX % 2))' | grep -oE '[0-9]+' | head -1)
bwait -w "ended($id)"
bjobs -noheader -o "jobindex stat exit_code delimiter=' '" $id
