# -oo and -eo empty the file; -o and -e append to it.
echo before >out; echo before >err
bsub -K -o out -e err 'echo one; echo one >&2' >/dev/null 2>&1
grep -xE 'before|one' out err
bsub -K -oo out -eo err 'echo two; echo two >&2' >/dev/null 2>&1
grep -xE 'before|one|two' out err
