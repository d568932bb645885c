# The directory of -outdir is made before the job begins, with the id of the job.
id=$(bsub -J 'd[1-2]' -outdir "results/%J/%I" -o out -e err 'echo $LSB_OUTDIR; echo wrong >&2' | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "done($id)"
output results/$id/1/out | sed "s|$PWD|HERE|;s/$id/ID/"
cat results/$id/2/err
bjobs -a -noheader -o output_dir "$id[1]" | sed "s|$PWD|HERE|;s/ *$//"
id=$(bsub -outdir /proc/none/x -o out 'echo never' | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "ended($id)"
bjobs -a -noheader -o stat $id; bhist -UF $id | grep -o 'cannot make the output directory "[^"]*"'
bsub -outdir "%H/x" -o out true
echo status $?
