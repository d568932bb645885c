bsub -J kl sleep 60 >/dev/null
bkill -J kl
