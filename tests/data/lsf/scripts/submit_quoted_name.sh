bsub -K -o out -J "two words" 'echo "<$LSB_JOBNAME>"' 2>/dev/null
output out
