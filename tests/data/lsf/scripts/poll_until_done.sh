# The loop of a workflow: poll the states of several jobs until none is pending or running.
ids=
for code in 0 1 0; do
    ids="$ids $(bsub "exit $code" | sed 's/Job <\([0-9]*\)>.*/\1/')"
done
while bjobs -noheader -o stat $ids 2>/dev/null | grep -qE 'PEND|RUN'; do sleep 0.1; done
bjobs -a -noheader -o "stat exit_code" $ids | tr -s ' ' | sort
