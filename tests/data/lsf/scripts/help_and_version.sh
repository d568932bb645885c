bjobs -V 2>&1 | sed 's/[0-9.]*,/X,/'
bjobs -h | head -1
