id=$(bsub -J acct true | grep -oE '[0-9]+' | head -1)
bwait -w "ended($id)"
bacct $id | grep "Total number of done"
bacct -l $id | grep -c "Accounting information about this job"
