# A job for each input, as parallel(1) would run them, and one that waits for all by name.
for i in 1 2 3 4; do echo $i >in.$i; done
tag=loop$$
for file in in.*; do
    bsub -q night -J $tag.${file#in.} -i $file -o out.${file#in.} 'read n; echo $((n * n))' >/dev/null
done
id=$(bsub -w "ended($tag.*)" -J gather -o all 'for f in out.?; do head -1 $f; done | sort -n | tr "\n" " "; echo' | grep -oE '[0-9]+' | head -1)
bwait -t 2 -w "done($id)"
output all
bjobs -a -noheader -J "$tag.*" -o stat | sort | uniq -c | tr -s ' '
