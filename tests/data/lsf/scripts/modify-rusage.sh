# A running job reserves less memory from now on; what was chosen at its start stays.
job=$(bsub -J big -R "select[type==any] rusage[mem=8]" sleep 600 | tr -dc '0-9')
bwait -w "started($job)"
bmod -R "rusage[mem=2]" $job
bmod -R "affinity[core] rusage[mem=2]" $job; echo "exit $?"
bmod -q night $job; echo "exit $?"
bjobs -noheader -o combined_resreq $job
bkill $job >/dev/null
