mkdir -p sub
bsub -K -cwd sub -o out pwd 2>/dev/null
sed 's|.*/||' sub/out
