printf 'a\nb\n' | bsub -I 'sort -r' 2>/dev/null
