id=$(bsub -w 'ended(999998) || ended(bpr)' true 2>&1); bsub -J bpr sleep 60 >/dev/null
id=$(bsub -w 'done(bpr)' true | grep -oE '[0-9]+' | head -1)
bjobs -p -noheader $id | sed -n 2p
bkill $id >/dev/null; bkill -J bpr >/dev/null
