# The option of the line is preferred to that of the script.
cat >job <<X
#!/bin/sh
#BSUB -q night
#BSUB -J from_script
#BSUB -P science
echo in \$LSB_QUEUE as \$LSB_JOBNAME
X
bsub -K -q normal -o out <job 2>/dev/null
output out
