badmin hclose n2 && bhosts -noheader -o status n2 | sed 's/ *$//'
badmin hopen n2
badmin qinact night && bqueues -noheader -o status night | sed 's/ *$//'
badmin qact night
