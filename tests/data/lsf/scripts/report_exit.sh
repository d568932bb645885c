# The check of many pipelines: did the job write that it is done?
bsub -K -o log.%J 'exit 4' >/dev/null 2>&1
grep -q '^Successfully completed' log.* || echo failed
grep '^Exited' log.*
bsub -K -J killed -o log 'kill -TERM $$' >/dev/null 2>&1
grep -o '^Exited by signal [0-9]*' log
grep '^Subject' log | awk '{print $NF}'
