for i in 1 2; do echo "input $i" >in.$i; done
bsub -K -J "a5[1-2]" -i "in.%I" -o "out.%I" cat >/dev/null 2>&1
output out.1 out.2
