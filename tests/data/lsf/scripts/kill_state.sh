# All jobs in a state, whatever their number.
bsub -H -J ks_held true >/dev/null
bsub -J ks_run sleep 300 >/dev/null
until [ "$(bjobs -noheader -o stat -J ks_run)" = RUN ]; do sleep 0.1; done
bkill -stat run -J 'ks_*' -C "not needed" 2>&1
bwait -w 'ended(ks_run)'
bjobs -noheader -o stat -J ks_held
bkill -stat susp -J 'ks_*'
bkill -stat pend -J 'ks_*'
