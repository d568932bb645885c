id=$(bsub true | awk -F'[<>]' '{print $2}')
bwait -w "done($id)" && echo done
