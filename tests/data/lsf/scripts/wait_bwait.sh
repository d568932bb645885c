bsub -J bw1 sleep 0 >/dev/null
bsub -J bw2 sleep 0 >/dev/null
bwait -w "ended(bw1) && ended(bw2)"
echo status $?
