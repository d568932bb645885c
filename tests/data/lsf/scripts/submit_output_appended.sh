bsub -K -o out echo one >/dev/null 2>&1
bsub -K -o out echo two >/dev/null 2>&1
grep -xE 'one|two' out
