for n in a b; do bsub -J "loop_$n" sleep 0 >/dev/null; done
while [ $(bjobs -noheader -J 'loop_*' -o stat 2>/dev/null | wc -l) -gt 0 ]; do sleep 0.2; done
bjobs -a -J 'loop_*' -noheader -o "job_name stat"
