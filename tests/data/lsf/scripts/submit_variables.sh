bsub -K -J "v[5]" -o out 'echo $LSB_JOBINDEX $LSB_JOBNAME $LSB_QUEUE; test "$LS_SUBCWD" = "$PWD" && echo here; test "$LSB_BATCH_JID" = "${LSB_JOBID}[5]" && echo jid' 2>/dev/null
output out
