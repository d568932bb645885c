# The first line of a script names its interpreter.
bsub -K -o out <<'X' 2>/dev/null
#!/bin/bash
#BSUB -J arrays
names=(one two three)
echo "${names[1]}"
X
output out
