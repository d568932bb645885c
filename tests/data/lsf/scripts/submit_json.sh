# Files in place of options are refused; nothing is read from standard input.
for option in -json -yaml -jsdl -jsdl_strict; do
    bsub $option job
    echo status $?
done
