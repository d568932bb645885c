bsub -w 'done(no_such_job)' true
echo status $?
