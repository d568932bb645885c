A=1 B=2 bsub -K -env "A,C=3" -o out 'echo A=$A B=$B C=$C' 2>/dev/null
output out
