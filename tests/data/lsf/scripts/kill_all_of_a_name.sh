for i in 1 2; do bsub -J "kn_$i" sleep 60; done >/dev/null
bkill -J 'kn_*' 0 | wc -l
bwait -w 'ended(kn_1) && ended(kn_2)'
bjobs -a -J 'kn_*' -noheader -o stat
