id=$(bsub -J story 'exit 3' | grep -oE '[0-9]+' | head -1)
bwait -w "ended($id)"
bhist -l $id | grep -o "Exited with exit code 3"
bhist $id | head -2 | sed 's/ *$//'
