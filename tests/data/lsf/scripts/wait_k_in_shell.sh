# A shell that submits several jobs and waits for all of them.
for i in 1 2 3; do bsub -K -J "w$i" true >/dev/null 2>&1 & done
wait
echo all
