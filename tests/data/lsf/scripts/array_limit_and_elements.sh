# At most two elements run at a time, and jobs that wait for one of them, or for all.
id=$(bsub -J 'many[1-6]%2' 'echo $LSB_JOBINDEX >>log; sleep 0.2' | grep -oE '[0-9]+' | head -1)
one=$(bsub -J one -w "done($id[3])" 'echo after 3 >>log' | grep -oE '[0-9]+' | head -1)
each=$(bsub -J 'each[1-6]' -w "done($id[*])" true | grep -oE '[0-9]+' | head -1)
some=$(bsub -J some -w "numdone($id, >= 4)" 'echo four are done >>log' | grep -oE '[0-9]+' | head -1)
bwait -t 2 -w "done($one) && done($each) && done($some)"
bjobs -A -a $id | awk 'NR == 2 {print $2, $4, $6}'
sort log
