# Programs of a site that check and change submissions (LSF_SERVERDIR).
mkdir etc; LSF_SERVERDIR=$PWD/etc; export LSF_SERVERDIR
cat >etc/esub <<'X'
#!/bin/sh
sed 's/^/parm: /' $LSB_SUB_PARM_FILE >&2
. $LSB_SUB_PARM_FILE
if [ -z "$LSB_SUB_PROJECT_NAME" ]; then
    echo "$LSF_INVOKE_CMD: expected -P" >&2
    exit $LSB_SUB_ABORT_VALUE
fi
X
cat >etc/esub.fluent <<'X'
#!/bin/sh
. $LSB_SUB_PARM_FILE
echo "fluent: $# $1 $2, $LSB_SUB_ADDITIONAL" >&2
cat >>$LSB_SUB_MODIFY_FILE <<Y
LSB_SUB_QUEUE="night"
LSB_SUB_RLIMIT_RUN=5400
LSB_SUB_MAX_NUM_PROCESSORS=4
LSB_SUB_RES_REQ="span[hosts=1]"
LSB_SUB_EXCLUSIVE=SUB_RESET
LSB_SUB_COMMAND_LINE="echo \"got \$LICENCE\"; $LSB_SUB_COMMAND_LINE"
Y
echo 'LICENCE="port 5"' >>$LSB_SUB_MODIFY_ENVFILE
echo "to eexec"
exit 3
X
cat >etc/esub.check <<'X'
#!/bin/sh
. $LSB_SUB_PARM_FILE
echo "check: $LSB_SUB_QUEUE $LSB_SUB_RLIMIT_RUN $LSB_SUB_NUM_PROCESSORS $LSB_SUB_MAX_NUM_PROCESSORS $LICENCE" >&2
X
chmod +x etc/*
bsub -J none true; echo "exit $?"
bsub -K -P gene -n 2 -M 4GB -W 1:30 -c 10/EPYC -R 'select[linux]' -w 'ended(0) || 1' -a check true
answer=$(bsub -a 'fluent(port 5,"x$y") check' -P gene -o out -n 2 -x -R 'select[linux]' -R 'rusage[mem=1]' -H 'echo $LSB_SUB_ABORT_VALUE done')
echo "$answer"; job=${answer#*<}; job=${job%%>*}
bjobs -noheader -o 'queue min_req_proc max_req_proc runtimelimit exclusive effective_resreq command' $job
LSB_ESUB_METHOD=check bsub -a nowhere -P gene true >log 2>&1; echo "exit $?"; sed "s,$PWD,DIR," log
bsub -a '../x' -P gene true; echo "exit $?"
bsub -a user -P gene true; echo "exit $?"
env -u LSF_SERVERDIR LSB_ESUB_METHOD=check bsub -P gene true; echo "exit $?"
bmod -W 20 $job; echo "exit $?"
bmod -P 'other "one"' -W 20 $job; bjobs -noheader -o 'runtimelimit proj_name' $job
bmod -q normal $job -P gene
bresume $job
bwait -w "ended($job)"; output out
cat >etc/esub.bad <<'X'
#!/bin/sh
echo "LSB_SUB_NUM_PROCESSORS=many" >$LSB_SUB_MODIFY_FILE
X
cat >etc/esub.new <<'X'
#!/bin/sh
echo "LSB_SUB5_NEW=1" >$LSB_SUB_MODIFY_FILE
X
chmod +x etc/*
bsub -a bad -P gene true; echo "exit $?"
bsub -a new -P gene true
ls ${TMPDIR:-/tmp} | grep esub
