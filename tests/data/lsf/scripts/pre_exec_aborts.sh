# Commands before and after a job; one that exits with LSB_EXIT_PRE_ABORT ends it for good.
dir=$PWD
id=$(bsub -o out -E "echo before >>$dir/log" -Ep "echo after \$LSB_JOBEXIT_STAT >>$dir/log" 'echo job; exit 3' | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "ended($id)"
cat log
id=$(bsub -o out2 -E 'test -n "$LSB_EXIT_PRE_ABORT" && exit $LSB_EXIT_PRE_ABORT' 'echo never' | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "ended($id)"
bjobs -a -noheader -o "stat exit_code delimiter=','" $id
test -e out2 && grep never out2
