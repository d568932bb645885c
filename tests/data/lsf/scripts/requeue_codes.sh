# A job is requeued for its own exit codes (-Q), as often as it ends with one of them.
cat >counter <<'END'
#!/bin/sh
echo x >>times
test $(wc -l <times) -ge 3 || exit 99
END
chmod +x counter
id=$(bsub -Q "99 EXCLUDE(7)" -J counter ./counter | grep -oE '[0-9]+' | head -1)
bjobs -UF $id | grep -o 'Requeue Exit Values <[^>]*>'
bwait -t 1 -w "ended($id)"
bjobs -noheader -a -o stat $id
wc -l <times
bsub -Q "99 x" true
echo status $?
