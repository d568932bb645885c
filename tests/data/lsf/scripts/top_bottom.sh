a=$(bsub -b 23:59 true | grep -oE '[0-9]+' | head -1)
btop $a
bbot $a
bkill $a >/dev/null
