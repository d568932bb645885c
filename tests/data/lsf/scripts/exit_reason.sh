# Why a job ended, as monitoring scripts ask for it.
id=$(bsub sleep 300 | grep -oE '[0-9]+' | head -1)
until [ "$(bjobs -noheader -o stat $id)" = RUN ]; do sleep 0.1; done
bkill $id >/dev/null
bwait -w "ended($id)"
bjobs -noheader -o "stat exit_reason delimiter=','" $id
id=$(bsub 'exit 3' | grep -oE '[0-9]+' | head -1)
bwait -w "ended($id)"
bjobs -noheader -o "stat exit_code exit_reason delimiter=','" $id
