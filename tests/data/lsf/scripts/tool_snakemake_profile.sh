# The status script of Snakemake's profile for LSF: bjobs by id, and the log's last word
# once bjobs does not know the job any more.
mkdir -p logs
for code in 0 3; do
    id=$(bsub -M 500 -n 1 -R 'select[mem>1] rusage[mem=1] span[hosts=1]' -o logs/%J.out \
        -e logs/%J.err -J rule.$code "exit $code" | sed -n 's/^Job <\([0-9]*\)>.*/\1/p')
    bwait -w "ended($id)"
    bjobs -noheader -o 'stat' $id | tr -d ' '
    if tail -n 30 logs/$id.out | grep -q '^Successfully completed'; then
        echo success
    elif tail -n 30 logs/$id.out | grep -q '^Exited with exit code'; then
        echo failed
    fi
done
