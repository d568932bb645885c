bsub -K -E "echo pre >$PWD/pre" -o out 'cat pre; echo main' 2>/dev/null
output out
