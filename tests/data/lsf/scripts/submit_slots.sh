bsub -K -n 4 -o out 'echo $LSB_DJOB_NUMPROC slots; echo $LSB_MCPU_HOSTS' 2>/dev/null
output out | sed 's/n[12]/nX/'
