# The loop that many scripts have.
id=$(bsub sleep 1 | grep -oE '[0-9]+' | head -1)
while bjobs -noheader $id 2>/dev/null | grep -qE 'PEND|RUN'; do sleep 0.2; done
bjobs -noheader -o stat $id
