bsub -K -o out <<'X' 2>/dev/null
#!/usr/bin/env python3
#BSUB -J snake
import os
print("index", os.environ["LSB_JOBINDEX"])
X
output out
