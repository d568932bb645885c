bgadd -L 1 /risk
bgadd /risk/daily
bgadd -L 2 /risk/weekly; echo "status $?"
bsub -g /risk/daily sleep 1000
bsub -g /risk/weekly -J waits sleep 1000
until [ "$(bjobs -noheader -o stat -g /risk/daily)" = RUN ]; do sleep 0.1; done
bjobs -p -noheader -g /risk/weekly | tail -1
bjgroup
bjgroup -s /risk/weekly
bgdel /risk; echo "status $?"
bkill -g /risk 0
while [ -n "$(bjobs -noheader -g /risk 2>/dev/null)" ]; do sleep 0.1; done
bgmod -Ln /risk
bgdel /risk
bjgroup; echo "status $?"
