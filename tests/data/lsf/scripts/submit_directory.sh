mkdir -p sub
bsub -K -cwd sub -o out pwd 2>/dev/null
output sub/out | sed 's|.*/||'
