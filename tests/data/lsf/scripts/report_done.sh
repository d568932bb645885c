# What programs look for in the file of -o: the report at its end.
bsub -K -J sort -o out 'echo sorted' 2>/dev/null
grep -c '^Sender: LSF System <' out
grep '^Subject: Job' out | sed 's/Job [0-9]*/Job ID/'
grep -A1 '^# LSBATCH: User input' out | tail -1
grep -E '^(Successfully completed|The output)' out
sed -n '/^Resource usage summary/,/^The output/p' out | grep -cE '^    (CPU time|Max Memory|Run time|Turnaround time) :'
head -1 out
