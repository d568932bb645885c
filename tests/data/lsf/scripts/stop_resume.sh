id=$(bsub sleep 60 | grep -oE '[0-9]+' | head -1)
until bjobs -noheader -o stat $id | grep -q RUN; do sleep 0.1; done
bstop $id
until bjobs -noheader -o stat $id | grep -q USUSP; do sleep 0.1; done
bresume $id
until bjobs -noheader -o stat $id | grep -q RUN; do sleep 0.1; done
bkill $id >/dev/null
