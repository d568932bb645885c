# A Makefile whose rules are jobs: bsub -K fails the rule as the job does.
cat >Makefile <<'END'
BSUB = bsub -K -q normal -o /dev/null
all: sum
part.%:
	@$(BSUB) -J make.$* 'echo $* >$@' >/dev/null 2>&1
sum: part.1 part.2 part.3
	@cat $^ >$@
bad:
	@$(BSUB) 'exit 4' >/dev/null 2>&1
END
make -s -j 3 all && cat sum
make -s bad 2>&1 | grep -o 'Error 4'
