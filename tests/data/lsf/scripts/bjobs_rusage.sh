# Jobs that reserve a resource.
a=$(bsub -H -J with -R "rusage[mem=10,tmp=2]" true | grep -oE '[0-9]+' | head -1)
b=$(bsub -H -J without -R "select[mem>1]" true | grep -oE '[0-9]+' | head -1)
bjobs -rusage "tmp" -noheader -o job_name $a $b | sed 's/ *$//'
bjobs -rusage "swp mem" -noheader -o job_name $a $b | sed 's/ *$//'
bjobs -rusage swp $a $b
echo status $?
bkill $a $b >/dev/null
