# Which of the pending jobs could start if there were room, and which wait for something else.
large=$(bsub -J eligible -n 97 true | grep -oE '[0-9]+' | head -1)
held=$(bsub -J ineligible -H true | grep -oE '[0-9]+' | head -1)
late=$(bsub -J ineligible -b 2099:1:1:0:0 true | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "started($large)" 2>/dev/null & # until the pass has judged it
until bjobs -p $large | grep -q 'more slots'; do sleep 0.1; done
kill $!
for option in -pe -pi; do
    bjobs $option -noheader -o "job_name pendstate delimiter=' '" $large $held $late
done
bjobs -pei -noheader $large $held $late | awk '/JOBS:/ {print} !/JOBS:/ {print $3, $7}'
bjobs -psum $large $held $late | sed 1d
bkill $large $held $late >/dev/null
