# Options of one letter may be joined: bjobs -pl, -rl, -Wa.
id=$(bsub -H -J joined true | grep -oE '[0-9]+' | head -1)
bjobs -pl $id | grep -c 'PENDING REASONS:'
bjobs -rl $id
echo status $?
bjobs -aw -noheader $id | grep -c joined
bjobs -zl $id
echo status $?
bkill $id >/dev/null
