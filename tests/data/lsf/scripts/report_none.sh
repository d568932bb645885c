# -N asks for the report by mail, so that it is not in the file. A file that nobody
# named has none.
BSUB_QUIET=1 bsub -K -N -o out echo alone
cat out
id=$(bsub 'echo kept' | grep -oE '[0-9]+' | head -1)
bwait -w "done($id)"
bpeek $id
