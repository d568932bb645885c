# CPU time by run time, and of all slots; of a job that has not run neither is known.
job=$(bsub -H -n 2 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 0.2' | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o 'idle_factor cpu_eff' $job
bresume $job >/dev/null
bwait -w "done($job)"
bjobs -noheader -o 'idle_factor cpu_eff' $job | awk '{
    part = $2; sub("%$", "", part)
    print ($1 > 0 && $1 < 1.1) ? "share" : $0, $2 ~ /%$/ ? "percent" : $0
    print (2 * part - 100 * $1)^2 < 2 ? "of two slots" : $0 }'
