bsub -J bwn 'exit 1' >/dev/null
bwait -w "done(bwn)"
echo status $?
