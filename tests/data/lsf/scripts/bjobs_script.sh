# The script of a job, as it was submitted.
cat >s.sh <<'END'
#!/bin/sh
#BSUB -J scripted
#BSUB -H
echo "two words"
END
id=$(bsub <s.sh | grep -oE '[0-9]+' | head -1)
bjobs -script $id | diff - s.sh && echo same
bkill $id >/dev/null
