bsub -K -n 6 -R "span[ptile=3]" -o out 'echo $LSB_HOSTS' 2>/dev/null
output out | tr ' ' '\n' | sort | uniq -c | awk '{print $1}'
