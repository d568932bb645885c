# The job is warned before its run limit (-wt, -wa), saves its state and ends in time.
cat >saver <<'END'
#!/bin/sh
exec 2>/dev/null # the shell says of sleep that a signal ended it
trap 'echo saved; exit 0' USR1
while :; do sleep 0.1; done
END
chmod +x saver
id=$(bsub -W 9s -wt 8s -wa USR1 -o out -J saver $PWD/saver | grep -oE '[0-9]+' | head -1)
bjobs -noheader -o "warning_action action_warning_time delimiter=','" $id
bwait -w "ended($id)"
output out
bjobs -noheader -a -o stat $id
bsub -wa SIGWHATEVER true
echo status $?
bsub -W 5 -wt soon -wa URG true
echo status $?
id=$(bsub -H -wa URG -wt 2 true | grep -oE '[0-9]+' | head -1)
bmod -wa USR2 -wtn $id
bjobs -noheader -o "warning_action action_warning_time delimiter=','" $id
bmod -wan $id
bjobs -noheader -o "warning_action action_warning_time delimiter=','" $id
bkill $id >/dev/null
