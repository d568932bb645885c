# A file of submissions (-pack), one on each line; a line that is refused does not stop the others.
cat >jobs <<'END'
# options and the command
-J packed -q night -o 'out one' echo "two words"

-J packed -q nowhere true
-J packed -o out.2 'echo $LSB_QUEUE; exit 3'
-K -J packed true
-J "packed true
END
bsub -pack jobs
echo status $?
bwait -t 1 -w "ended(packed)"
output 'out one' out.2
bsub -pack jobs -q night
echo status $?
bsub -pack /no/such/file
echo status $?
