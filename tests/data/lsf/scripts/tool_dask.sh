# dask-jobqueue: the id is the first number of the answer, lsid tells a version, and the
# logs have the job's id in their names.
lsid | grep -cE '([0-9]+\.)+[0-9]+'
cat >worker.sh <<'X'
#!/usr/bin/env bash
#BSUB -J dask-worker
#BSUB -e logs/dask-worker-%J.err
#BSUB -o logs/dask-worker-%J.out
#BSUB -q night
#BSUB -P "some project"
#BSUB -n 2
#BSUB -R "span[hosts=1]"
#BSUB -M 1000000
#BSUB -W 00:30
echo worker of $LSB_JOBNAME in $LSB_QUEUE; echo to err >&2
X
mkdir logs
id=$(bsub < worker.sh 2>/dev/null | grep -oE '[0-9]+' | head -1)
bwait -w "done($id)"
head -1 logs/dask-worker-$id.out
cat logs/dask-worker-$id.err
bjobs -a -noheader -o "proj_name:20" $id
chmod +x worker.sh
id=$(bsub ./worker.sh | grep -oE '[0-9]+' | head -1)
bkill $id >/dev/null 2>&1 || bwait -w "ended($id)"
