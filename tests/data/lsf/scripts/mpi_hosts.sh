# What a parallel job finds: the file for mpirun --hostfile, a line for each slot.
bsub -K -n 4 -R "span[ptile=2]" -o out -J mpi 'wc -l <$LSB_DJOB_HOSTFILE; sort $LSB_DJOB_HOSTFILE | uniq -c | tr -s " "; cmp $LSB_DJOB_HOSTFILE $LSB_DJOB_RANKFILE && echo same; echo $LSB_DJOB_NUMPROC; set -- $LSB_MCPU_HOSTS; echo $# $2 $4' 2>/dev/null >/dev/null
output out
bsub -K -o one 'echo "${LSB_DJOB_HOSTFILE:-no file}"' >/dev/null 2>&1
output one
