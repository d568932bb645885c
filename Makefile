# SPDX-License-Identifier: Apache-2.0
# Builds, tests and installs Sublet. `make help` lists the targets.
#
#   make                        all programs, into build/gcc/bin (also build/bin)
#   make CC=clang               the same into build/clang
#   make SAN=address,undefined  the same into build/gcc-address-undefined
#
# Rooms are found by wildcard: a new .c file needs no line here. A program without
# sources is skipped.

ifeq ($(origin CC),default)
CC := gcc
endif
SAN ?=
COV ?=
V ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

comma := ,
Q := $(if $(filter 1,$(V)),,@)
NPROC := $(shell nproc 2>/dev/null || echo 1)
# Sub-makes run in parallel, unless the caller has said how many jobs.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(NPROC))

COMPILER := $(notdir $(firstword $(CC)))
VARIANT := $(COMPILER)$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(COV),-coverage)
# `make bench B=jobs` names a benchmark; everywhere else B is the build directory.
ifeq ($(origin B),command line)
BENCH := $(B)
endif
override B := build/$(VARIANT)
TEST_SAN ?= address,undefined
TEST_B := build/$(COMPILER)-$(subst $(comma),-,$(TEST_SAN))

# ---------------------------------------------------------------- flags

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wvla -Wundef -Wswitch-enum -Werror
ifneq ($(SAN),)
MODE := -O1 -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_LD := -fsanitize=$(SAN)
# What gcc infers from paths sees the sanitizers' own checks as if they were ours.
ifneq ($(findstring gcc,$(COMPILER)),)
WARN_OFF := -Wno-format-truncation -Wno-format-overflow -Wno-maybe-uninitialized \
	-Wno-stringop-overflow -Wno-stringop-truncation -Wno-array-bounds -Wno-null-dereference
endif
else ifneq ($(COV),)
MODE := -O0 --coverage
MODE_LD := --coverage
else
MODE := -O2 -D_FORTIFY_SOURCE=2
endif
BASE_FLAGS := -std=c17 -D_GNU_SOURCE -g $(MODE) -fstack-protector-strong -fPIE \
	-MMD -MP -iquote . -iquote $(B)/gen
ALL_FLAGS = $(BASE_FLAGS) $(WARN) $(WARN_OFF) $(CPPFLAGS) $(CFLAGS)
LINK_FLAGS = -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(MODE_LD) $(LDFLAGS)

# Asked for only when something is compiled or linked that needs it, and once.
PACKAGES := libczmq libzmq sqlite3 libpq libmicrohttpd jansson hwloc libsystemd \
	zlib ncursesw
pkg = $(shell pkg-config $(1) $(PACKAGES) || echo run-deploy/deps.sh-first)
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(subst -I,-isystem ,$$(call pkg,--cflags)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call pkg,--libs))$(PKG_LIBS)
SHELL_FLAGS = $(PKG_CFLAGS) -DSUBLET_VERSION='"$(VERSION)"'
# Every test takes cmocka's state, most have no use for it.
TEST_FLAGS = $(SHELL_FLAGS) $(TEST_CFLAGS) -Wno-unused-parameter
TEST_PACKAGES := cmocka libprotobuf-c
TEST_CFLAGS = $(eval TEST_CFLAGS := $$(shell pkg-config --cflags $(TEST_PACKAGES)))$(TEST_CFLAGS)

# ---------------------------------------------------------------- sources

# A room is a folder, or the folders in it.
room = $(sort $(wildcard $(foreach dir,$(1),$(dir)/*.c $(dir)/*/*.c)))
SITE_SRCS := $(sort $(wildcard site/io/*.c))
BROKER_SRCS := $(sort $(wildcard broker/io/*.c broker/io/*/*.c))
SLURM_SRCS := $(sort $(wildcard slurm/io/*.c))
PURE_SRCS := $(filter-out $(SITE_SRCS) $(BROKER_SRCS) $(SLURM_SRCS), \
	$(call room,base model usage sched broker provider consumer site sim slurm proto) $(wildcard host/exec/*.c))
TOOLKIT_SRCS := $(call room,sys) $(SLURM_SRCS)
# What a guard and its sublet-host both are made of; the guard alone; sublet-host alone.
RUN_SRCS := $(call room,host/kernel host/run_dir)
GUARD_SRCS := $(call room,host/guard host/stdio)
HOST_SRCS := $(call room,host/agent host/load)
# What starts the slurmd of another site's cluster.
SLURMD_SRCS := $(call room,host/slurmd)
# sublet-lsf is the command line by other names: all of it but main().
LSF_SRCS := $(sort $(wildcard cli/lsf/*.c))
CLI_SRCS := $(filter-out $(LSF_SRCS),$(call room,cli))
SHELL_SRCS := $(TOOLKIT_SRCS) $(BROKER_SRCS) $(SITE_SRCS) $(RUN_SRCS) $(GUARD_SRCS) \
	$(HOST_SRCS) $(SLURMD_SRCS) $(CLI_SRCS) $(LSF_SRCS)

UNIT_SRCS := $(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c tests/prop/prop_*.c))
SLOW_SRCS := $(sort $(wildcard tests/sim/sim_*.c tests/io/test_*.c))
# The longest first: nothing runs beside the last of a sorted list.
E2E := $(foreach room,slurm packages e2e,$(sort $(wildcard tests/$(room)/test_*.py)))
# Each has a corpus, which replay.c runs it over; a fuzzer brings a main() of its own.
FUZZ_SRCS := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_MAIN := $(wildcard tests/fuzz/replay.c)
# What several tests share: any other .c file below tests/.
TEST_SUPPORT_SRCS := $(sort $(filter-out $(UNIT_SRCS) $(SLOW_SRCS) $(FUZZ_SRCS) \
	$(FUZZ_MAIN), $(wildcard tests/*.c tests/unit/*/*.c tests/unit/*/*/*.c tests/prop/*.c tests/sim/*.c \
	tests/io/*.c tests/fuzz/*.c)))
BENCH_SRCS := $(sort $(wildcard tests/bench/bench_*.c))
BENCH_SUPPORT_SRCS := $(sort $(filter-out $(BENCH_SRCS),$(wildcard tests/bench/*.c)))
TEST_SRCS := $(UNIT_SRCS) $(SLOW_SRCS) $(FUZZ_SRCS) $(FUZZ_MAIN) $(TEST_SUPPORT_SRCS) $(BENCH_SRCS) \
	$(BENCH_SUPPORT_SRCS)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

# ---------------------------------------------------------------- generated

# What protobuf-c makes of the protocol, with which the tests compare.
PROTO_H := $(B)/gen/proto/sublet.pb-c.h
PROTO_OBJ := $(B)/obj/gen/proto/sublet.pb-c.o

# The table of migrations is declared in sys/db/db.h.
ifneq ($(wildcard sys/db/db.h),)
BROKER_SQL := $(sort $(wildcard schema/broker/*.sql))
POSTGRES_SQL := $(sort $(wildcard schema/postgres/*.sql))
SITE_SQL := $(sort $(wildcard schema/site/*.sql))
endif
# The broker's page: its files, and what draws its charts.
CHART_JS := /usr/share/javascript/chart.js/chart.min.js
PAGE_FILES := $(sort $(wildcard broker/io/page/*)) $(CHART_JS)
PAGE_OBJ := $(B)/obj/gen/broker/page.o
BROKER_SQL_OBJ := $(if $(BROKER_SQL),$(B)/obj/gen/schema/broker_sql.o \
	$(B)/obj/gen/schema/postgres_sql.o)
SITE_SQL_OBJ := $(if $(SITE_SQL),$(B)/obj/gen/schema/site_sql.o)

# ---------------------------------------------------------------- archives, programs

PURE := $(B)/libpure.a
TOOLKIT := $(B)/libshell.a
# For tests: all daemon objects but those with a main().
ROOMS := $(B)/librooms.a
SUPPORT := $(B)/libtests.a

ROOM_SRCS := $(BROKER_SRCS) $(SITE_SRCS) $(RUN_SRCS) $(HOST_SRCS) $(GUARD_SRCS) $(SLURMD_SRCS)
MAIN_SRCS := $(if $(ROOM_SRCS),$(shell grep -l '^int main\>' $(ROOM_SRCS)))

PURE_OBJS := $(call obj,$(PURE_SRCS))
TOOLKIT_OBJS := $(call obj,$(TOOLKIT_SRCS))
ROOM_OBJS := $(call obj,$(filter-out $(MAIN_SRCS),$(ROOM_SRCS))) $(BROKER_SQL_OBJ) \
	$(SITE_SQL_OBJ) $(PAGE_OBJ)
SUPPORT_OBJS := $(call obj,$(TEST_SUPPORT_SRCS)) $(PROTO_OBJ)

BIN := $(B)/bin
PROGRAMS := $(if $(BROKER_SRCS),$(BIN)/sublet-broker) $(if $(SITE_SRCS),$(BIN)/sublet-site) \
	$(if $(HOST_SRCS),$(BIN)/sublet-host) $(if $(GUARD_SRCS),$(BIN)/sublet-guard) \
	$(if $(SLURMD_SRCS),$(BIN)/sublet-slurmd) $(if $(CLI_SRCS),$(BIN)/sublet) $(if $(LSF_SRCS),$(BIN)/sublet-lsf)

test_bins = $(patsubst %.c,$(1)/%,$(2))

.PHONY: all
all: $(PROGRAMS) $(PURE) $(TOOLKIT) | $(B)/.bin

# build/bin is the plain gcc build, or the first other one where there is none.
.PHONY: $(B)/.bin
$(B)/.bin: | $(BIN)
ifeq ($(VARIANT),gcc)
	@ln -sfn $(VARIANT)/bin build/bin
else
	@test -e build/bin || ln -sfn $(VARIANT)/bin build/bin
endif

$(BIN):
	@mkdir -p $@

$(BIN)/sublet-broker: $(call obj,$(BROKER_SRCS)) $(BROKER_SQL_OBJ) $(PAGE_OBJ) $(TOOLKIT) $(PURE) | $(BIN)
	$(link)
$(BIN)/sublet-site: $(call obj,$(SITE_SRCS) $(RUN_SRCS) host/agent/start_file.c) $(SITE_SQL_OBJ) $(TOOLKIT) $(PURE) | $(BIN)
	$(link)
$(BIN)/sublet-host: $(call obj,$(HOST_SRCS) $(RUN_SRCS)) $(TOOLKIT) $(PURE) | $(BIN)
	$(link)
$(BIN)/sublet-slurmd: $(call obj,$(SLURMD_SRCS)) $(PURE) | $(BIN)
	$(link)
$(BIN)/sublet: $(call obj,$(CLI_SRCS)) $(TOOLKIT) $(PURE) | $(BIN)
	$(link)
$(BIN)/sublet-lsf: $(call obj,$(filter-out cli/main.c,$(CLI_SRCS)) $(LSF_SRCS)) $(TOOLKIT) $(PURE) | $(BIN)
	$(link)
# There is one guard per running job: nothing but libc in it.
$(BIN)/sublet-guard: $(call obj,$(GUARD_SRCS) $(RUN_SRCS)) $(PURE) | $(BIN)
	@echo "  LD    $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $^

define link
@echo "  LD    $@"
$(Q)$(CC) $(LINK_FLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) \
	-Wl,--end-group $(PKG_LIBS) -lm
endef

# Appended, not replaced: two rooms may have a file of the same name. The list of
# objects is a prerequisite too, so that a deleted source leaves the archive.
define archive
@echo "  AR    $@"
$(Q)rm -f $@ && ar qcs $@ $(filter %.o,$^)
endef
define list
@mkdir -p $(@D)
@printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
endef
.PHONY: force
$(B)/libpure.list: force; $(call list,$(PURE_OBJS))
$(B)/libshell.list: force; $(call list,$(TOOLKIT_OBJS))
$(B)/librooms.list: force; $(call list,$(ROOM_OBJS))
$(B)/libtests.list: force; $(call list,$(SUPPORT_OBJS))
$(PURE): $(PURE_OBJS) $(B)/libpure.list; $(archive)
$(TOOLKIT): $(TOOLKIT_OBJS) $(B)/libshell.list; $(archive)
$(ROOMS): $(ROOM_OBJS) $(B)/librooms.list; $(archive)
$(SUPPORT): $(SUPPORT_OBJS) $(B)/libtests.list; $(archive)

define compile
@mkdir -p $(@D)
@echo "  CC    $<"
$(Q)$(CC) $(ALL_FLAGS) $(1) -c -o $@ $<
endef
$(PURE_OBJS): $(B)/obj/%.o: %.c
	$(call compile)
$(call obj,$(SHELL_SRCS)): $(B)/obj/%.o: %.c
	$(call compile,$(SHELL_FLAGS))
$(call obj,$(TEST_SRCS)): $(B)/obj/%.o: %.c | $(PROTO_H)
	$(call compile,$(TEST_FLAGS))

$(call test_bins,$(B),$(UNIT_SRCS) $(SLOW_SRCS)): $(B)/%: $(B)/obj/%.o $(SUPPORT) $(ROOMS) \
		$(TOOLKIT) $(PURE)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(PKG_LIBS) $$(pkg-config --libs $(TEST_PACKAGES)) -lm

$(call test_bins,$(B),$(BENCH_SRCS)): $(B)/%: $(B)/obj/%.o $(call obj,$(BENCH_SUPPORT_SRCS)) \
		$(ROOMS) $(TOOLKIT) $(PURE)
	@mkdir -p $(@D)
	$(link)

FUZZ_PARTS = $(SUPPORT) $(ROOMS) $(TOOLKIT) $(PURE)
$(call test_bins,$(B),$(FUZZ_SRCS)): $(B)/%: $(B)/obj/%.o $(call obj,$(FUZZ_MAIN)) $(FUZZ_PARTS)
	@mkdir -p $(@D)
	$(link)
# With SAN=fuzzer-no-link,...: libFuzzer's main() calls the target.
$(B)/fuzz/%: $(B)/obj/tests/fuzz/fuzz_%.o $(FUZZ_PARTS)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(LINK_FLAGS) -fsanitize=fuzzer -o $@ $< -Wl,--start-group \
		$(filter %.a,$^) -Wl,--end-group $(PKG_LIBS) -lm

# The schema of the wire follows from the tables of fields.
$(B)/make-proto: tools/make-proto.c $(PURE)
	@echo "  LD    $@"
	$(Q)$(CC) $(ALL_FLAGS) $(LINK_FLAGS) -o $@ $^ -lm
proto: $(B)/make-proto
	$(B)/make-proto >proto/sublet.proto.new && mv proto/sublet.proto.new proto/sublet.proto

# protoc-c writes the .h along with the .c; its code is not held to our warnings.
$(B)/gen/proto/sublet.pb-c.c: proto/sublet.proto
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)protoc-c --proto_path=proto --c_out=$(@D) $<
	@sed -i 's|#include "sublet.pb-c.h"|#include "proto/sublet.pb-c.h"|' $@
$(B)/gen/proto/sublet.pb-c.h: $(B)/gen/proto/sublet.pb-c.c ;
$(B)/obj/gen/proto/sublet.pb-c.o: $(B)/gen/proto/sublet.pb-c.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(BASE_FLAGS) $(CFLAGS) $(TEST_CFLAGS) -c -o $@ $<

$(B)/gen/schema/broker_sql.c: $(BROKER_SQL) tools/embed-sql
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)tools/embed-sql broker_migrations $(BROKER_SQL) >$@.new && mv $@.new $@
$(B)/gen/schema/postgres_sql.c: $(POSTGRES_SQL) tools/embed-sql
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)tools/embed-sql postgres_migrations $(POSTGRES_SQL) >$@.new && mv $@.new $@
$(B)/gen/schema/site_sql.c: $(SITE_SQL) tools/embed-sql
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)tools/embed-sql site_migrations $(SITE_SQL) >$@.new && mv $@.new $@
$(B)/gen/broker/page.c: $(PAGE_FILES) tools/embed-files
	@mkdir -p $(@D)
	@echo "  GEN   $@"
	$(Q)tools/embed-files $(PAGE_FILES) >$@.new && mv $@.new $@
$(PAGE_OBJ): $(B)/gen/broker/page.c
	$(call compile)
# A whole migration is one string: longer than C promises, not than any compiler takes.
$(B)/obj/gen/schema/%.o: $(B)/gen/schema/%.c
	$(call compile,-Wno-overlength-strings)

-include $(patsubst %.o,%.d,$(PURE_OBJS) $(TOOLKIT_OBJS) $(ROOM_OBJS) \
	$(call obj,$(SHELL_SRCS) $(TEST_SRCS)))

# ---------------------------------------------------------------- tests

LINTS := $(addprefix tools/,check-layers check-cycles check-purity check-names check-headers \
	check-banned check-format check-sources check-links check-proto)

.PHONY: deps proto unit-tests tests bench-objects lints check test check-run test-run
deps:
	@deploy/deps.sh

unit-tests: $(call test_bins,$(B),$(UNIT_SRCS))
tests: unit-tests $(call test_bins,$(B),$(SLOW_SRCS) $(FUZZ_SRCS))

# Nothing runs them but `make bench`: so that they do not break unseen.
bench-objects: $(call obj,$(BENCH_SRCS) $(BENCH_SUPPORT_SRCS))

# Lints read the build directory $BUILD; the programs under test stand in
# $SUBLET_BIN.
lints: all $(B)/make-proto
	@BUILD=$(B) tools/run-tests $(LINTS)

check:
	@$(MAKE) --no-print-directory $(JOBS) all unit-tests bench-objects $(B)/make-proto
	@BUILD=$(B) SUBLET_BIN=$(CURDIR)/$(BIN) tools/run-tests $(LINTS) \
		$(call test_bins,$(B),$(UNIT_SRCS))

# The programs' tests run with sanitizers, end to end tests with what is shipped.
test:
	@deploy/deps.sh
	@$(MAKE) --no-print-directory $(JOBS) SAN= all benches build/$(COMPILER)/make-proto
	@$(MAKE) --no-print-directory $(JOBS) SAN=$(TEST_SAN) tests $(TEST_B)/bin/sublet
	@BUILD=build/$(COMPILER) SUBLET_BIN=$(CURDIR)/build/$(COMPILER)/bin \
		SUBLET_OTHER_BIN=$(CURDIR)/$(TEST_B)/bin tools/run-tests \
		$(LINTS) tools/check-clang $(E2E) \
		$(call test_bins,$(TEST_B),$(SLOW_SRCS) $(FUZZ_SRCS) $(UNIT_SRCS))

# Figures of the plain build, one benchmark after the other; B=NAME runs one. PEERS=1 runs
# the same work of etcd, PostgreSQL and Slurm beside it, and prints the ratios.
PEERS_OF := changes usage jobs
.PHONY: bench benches
benches: $(call test_bins,$(B),$(BENCH_SRCS))
bench:
	@$(MAKE) --no-print-directory $(JOBS) all benches
	@for bench in $(if $(PEERS),$(or $(BENCH),$(PEERS_OF)),$(or $(BENCH),$(BENCH_SRCS:tests/bench/bench_%.c=%))); do \
		SUBLET_BIN=$(CURDIR)/$(BIN) SUBLET_BENCHES=$(CURDIR)/$(B)/tests/bench \
		$(if $(PEERS),tests/bench/peers.py $$bench,$(B)/tests/bench/bench_$$bench) || exit 1; done

# This tree's figures beside those of another, in turns: BASE=REVISION or a directory,
# B='pass changes jobs', RUNS=5.
.PHONY: bench-gate
BASE ?= HEAD
RUNS ?= 5
bench-gate:
	@BENCH_RUNS=$(RUNS) tools/bench-gate $(BASE) $(BENCH)

# Whether tests fail when one comparison changes: M='sched/preempt provider', CHANGES=40.
.PHONY: mutate
M ?= sched/preempt
CHANGES ?= 40
mutate:
	@tools/mutate -n $(CHANGES) -s $(or $(S),1) $(M)

# Faults at random. First WORLDS federations in virtual time, on all processors; what
# fails is made smaller and kept in build/soak. Then N faults against real daemons under
# load. S=SEED begins with that world, and does again the faults of that seed.
.PHONY: soak
N ?= 200
WORLDS ?= 5000
S ?=
SEARCH := build/$(COMPILER)/tests/sim/sim_search
soak:
	@deploy/deps.sh
	@$(MAKE) --no-print-directory $(JOBS) SAN= all $(SEARCH)
	@mkdir -p build/soak
	@$(SEARCH) soak $(or $(S),$$(date +%s)) $(WORLDS) 0 build/soak
	@SUBLET_BIN=$(CURDIR)/build/$(COMPILER)/bin tests/e2e/soak.py $(N) $(S)

# All floods of a hostile member in turn, for S seconds, and the broker's memory meanwhile.
.PHONY: soak-floods
soak-floods:
	@$(MAKE) --no-print-directory $(JOBS) SAN= all $(call test_bins,build/$(COMPILER),tests/bench/bench_floods.c)
	@FLOOD_S=$(or $(S),3600) SUBLET_BIN=$(CURDIR)/build/$(COMPILER)/bin \
		$(call test_bins,build/$(COMPILER),tests/bench/bench_floods.c)

# The leader of two brokers killed KILLS times under load (tests/e2e/test_standby.py).
.PHONY: soak-standby
KILLS ?= 100
soak-standby:
	@$(MAKE) --no-print-directory $(JOBS) SAN= all
	@KILLS=$(KILLS) SUBLET_BIN=$(CURDIR)/build/$(COMPILER)/bin tests/e2e/test_standby.py \
		test_the_leader_is_killed_again_and_again_under_load

# The guard's tests where version 2 of cgroups has all controllers: in a virtual machine.
.PHONY: vm
VM_TESTS := $(call test_bins,$(B),$(wildcard tests/io/test_guard*.c))
vm:
	@$(MAKE) --no-print-directory $(JOBS) all $(VM_TESTS)
	@BUILD=$(B) tests/vm/run $(VM_TESTS)

.PHONY: demo format tidy coverage install clean help
demo:
	@deploy/deps.sh run build
	@$(MAKE) --no-print-directory $(JOBS) all
	@SUBLET_BIN=$(CURDIR)/$(BIN) deploy/demo/run

# make fuzz T=codec S=60: what is found stands in build/fuzz/<T>; tests/fuzz/corpus/<T>
# is what it begins from and is left as it is.
T ?=
FUZZ_SAN := fuzzer-no-link,address,undefined
FUZZ_B := build/clang-$(subst $(comma),-,$(FUZZ_SAN))
.PHONY: fuzz
fuzz:
	@test -e tests/fuzz/fuzz_$(T).c || { echo 'make fuzz T=$(subst fuzz_,,$(basename \
		$(notdir $(firstword $(FUZZ_SRCS))))) S=60, T one of: $(patsubst \
		tests/fuzz/fuzz_%.c,%,$(FUZZ_SRCS))' >&2; exit 2; }
	@$(MAKE) --no-print-directory $(JOBS) CC=clang SAN=$(FUZZ_SAN) $(FUZZ_B)/fuzz/$(T)
	@mkdir -p build/fuzz/$(T)
	$(FUZZ_B)/fuzz/$(T) -max_total_time=$(or $(S),60) -timeout=20 -rss_limit_mb=2048 \
		-artifact_prefix=build/fuzz/$(T)- build/fuzz/$(T) tests/fuzz/corpus/$(T)

ROOM_DIRS := base model usage sched broker provider consumer site sim slurm sys proto host cli tests
format:
	find $(ROOM_DIRS) -name '*.[ch]' -exec clang-format -i {} +

tidy:
	clang-tidy --quiet $(PURE_SRCS) $(SHELL_SRCS) -- -std=c17 -D_GNU_SOURCE -iquote . \
		$(SHELL_FLAGS)

coverage:
	@$(MAKE) --no-print-directory $(JOBS) CC=gcc COV=1 SAN= tests
	@find build/gcc-coverage -name '*.gcda' -delete
	@tools/run-tests $(call test_bins,build/gcc-coverage,$(UNIT_SRCS) $(SLOW_SRCS))
	@tools/coverage build/gcc-coverage

# Manual pages and completion, from the tables that the program runs by; the daemons'
# pages are docs/man/*.8.
MADE_PAGES := $(B)/man/sublet.1 $(B)/man/sublet.conf.5 $(B)/man/sublet-lsf.1
COMPLETION := $(B)/completions/sublet
.PHONY: man
man: $(MADE_PAGES) $(COMPLETION)
$(B)/man/sublet-lsf.1: $(BIN)/sublet-lsf
	@mkdir -p $(@D)
	$(Q)$< --man >$@
$(filter-out %/sublet-lsf.1,$(MADE_PAGES)): $(B)/man/%: $(BIN)/sublet
	@mkdir -p $(@D)
	$(Q)$< help --man $(basename $*) >$@
$(COMPLETION): $(BIN)/sublet
	@mkdir -p $(@D)
	$(Q)$< completion >$@

# Pages that are generated from the tables of keys; a test compares them.
.PHONY: docs
docs: $(BIN)/sublet $(BIN)/sublet-lsf
	$(Q)$< help --markdown >docs/configuration.md
	$(Q)$< help --lsf >docs/lsf-parameters.md
	$(Q)$(BIN)/sublet-lsf --markdown >docs/lsf-commands.md

# docs/ as a site, with an index for searching; each warning is an error.
.PHONY: site
SITE_DIR ?= build/site
site:
	@deploy/deps.sh docs
	@mkdir -p build
	$(Q)/usr/bin/python3 -m sphinx -q -n -W --keep-going -b html -c docs/site \
		-d build/doctrees docs $(SITE_DIR)
	@echo '$(SITE_DIR)/index.html'

# Where things go, and what goes there. Units are templates that name PREFIX. The files
# of /etc/sublet are the administrator's once they are there.
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc
CONF := $(DESTDIR)$(SYSCONFDIR)/sublet
SHARE := $(DESTDIR)$(PREFIX)/share
LIB := $(DESTDIR)$(PREFIX)/lib
UNITS := $(wildcard deploy/systemd/*.service)
# Units of systemd before 254 do not know DelegateSubgroup.
DELEGATES = $(if $(shell pkg-config --atleast-version=254 libsystemd && echo yes),site host)
.PHONY: uninstall
install: all man
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/sublet $(SHARE)/man/man1 \
		$(SHARE)/man/man5 $(SHARE)/man/man8 $(SHARE)/bash-completion/completions \
		$(LIB)/sysusers.d $(LIB)/tmpfiles.d $(DESTDIR)$(UNITDIR) $(CONF)/keys
	install $(filter-out %/sublet-guard,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin/
	install $(BIN)/sublet-guard $(DESTDIR)$(PREFIX)/libexec/sublet/
	install -m 644 $(B)/man/sublet.1 $(B)/man/sublet-lsf.1 $(SHARE)/man/man1/
	for name in $$($(BIN)/sublet-lsf --names); do \
		ln -sf sublet-lsf $(DESTDIR)$(PREFIX)/bin/$$name || exit 1; \
		ln -sf sublet-lsf.1 $(SHARE)/man/man1/$$name.1 || exit 1; done
	install -m 644 $(B)/man/sublet.conf.5 $(SHARE)/man/man5/
	install -m 644 docs/man/*.8 $(SHARE)/man/man8/
	install -m 644 $(COMPLETION) $(SHARE)/bash-completion/completions/
	for unit in $(UNITS); do sed 's|@BINDIR@|$(PREFIX)/bin|' $$unit | \
		install -m 644 /dev/stdin $(DESTDIR)$(UNITDIR)/$${unit##*/} || exit 1; done
	for daemon in $(DELEGATES); do install -D -m 644 deploy/systemd/delegate.conf \
		$(DESTDIR)$(UNITDIR)/sublet-$$daemon.service.d/delegate.conf || exit 1; done
	install -m 644 deploy/systemd/sublet-broker.sysusers $(LIB)/sysusers.d/sublet-broker.conf
	for file in deploy/systemd/*.tmpfiles; do name=$${file##*/}; install -m 644 $$file \
		$(LIB)/tmpfiles.d/$${name%.tmpfiles}.conf || exit 1; done
	for file in deploy/etc/*; do test -e $(CONF)/$${file##*/} || \
		install -m 644 $$file $(CONF)/ || exit 1; done

# Files of /etc/sublet that were changed stay, and so do keys, stores and journals.
uninstall:
	for path in $(DESTDIR)$(PREFIX)/bin/b* $(DESTDIR)$(PREFIX)/bin/ls*; do \
		test "$$(readlink $$path)" != sublet-lsf || rm $$path; done
	for path in $(SHARE)/man/man1/b*.1 $(SHARE)/man/man1/ls*.1; do \
		test "$$(readlink $$path)" != sublet-lsf.1 || rm $$path; done
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(notdir $(filter-out %/sublet-guard,$(PROGRAMS))))
	rm -rf $(DESTDIR)$(PREFIX)/libexec/sublet
	rm -f $(SHARE)/man/man1/sublet.1 $(SHARE)/man/man1/sublet-lsf.1 \
		$(SHARE)/man/man5/sublet.conf.5 \
		$(addprefix $(SHARE)/man/man8/,$(notdir $(wildcard docs/man/*.8))) \
		$(SHARE)/bash-completion/completions/sublet
	rm -rf $(addprefix $(DESTDIR)$(UNITDIR)/,$(notdir $(UNITS)) \
		sublet-site.service.d sublet-host.service.d)
	rm -f $(LIB)/sysusers.d/sublet-broker.conf $(addsuffix .conf,$(addprefix \
		$(LIB)/tmpfiles.d/,$(basename $(notdir $(wildcard deploy/systemd/*.tmpfiles)))))
	for file in deploy/etc/*; do ! cmp -s $$file $(CONF)/$${file##*/} || \
		rm $(CONF)/$${file##*/}; done
	rmdir $(CONF)/keys $(CONF) 2>/dev/null || test -d $(CONF) || test ! -e $(CONF)

# Packages into build/packages. They are built from a copy of the tree, which has debian/
# at its top and is kept, so that only what has changed is compiled again. REUSE=1 takes
# the objects of build/gcc, for tests.
PACKAGES_DIR := build/packages
COPY := build/deb/sublet-$(VERSION)
.PHONY: deb rpm package-tree
package-tree:
	@deploy/deps.sh build package
	@test "$$(dpkg-parsechangelog -l deploy/debian/changelog -S Version)" = $(VERSION) || \
		{ echo 'deploy/debian/changelog: its version is not $(VERSION), as in Makefile' >&2; exit 1; }
	@mkdir -p $(COPY) $(PACKAGES_DIR)
	@find $(COPY) -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	@tar -cf - --exclude=./build --exclude=./.git --exclude=__pycache__ . | tar -xf - -C $(COPY)
	@if test -n '$(REUSE)' && test -d build/gcc; then rm -rf $(COPY)/build/gcc && \
		mkdir -p $(COPY)/build/gcc && cp -rp build/gcc/obj build/gcc/gen build/gcc/bin \
		build/gcc/*.a build/gcc/*.list $(COPY)/build/gcc/; fi

deb: package-tree
	@cp -rp $(COPY)/deploy/debian $(COPY)/debian
	@rm -f $(PACKAGES_DIR)/*.deb
	cd $(COPY) && dpkg-buildpackage -b -us -uc -nc
	@mv build/deb/*.deb build/deb/*.changes build/deb/*.buildinfo $(PACKAGES_DIR)/
	@ls $(PACKAGES_DIR)/*.deb

# Where rpm does not know what is installed (Debian), only deps.sh checks it.
rpm: all man
	@deploy/deps.sh build package
	@rm -rf build/rpm $(PACKAGES_DIR)/*.rpm
	@mkdir -p $(PACKAGES_DIR)
	rpmbuild -bb --build-in-place --quiet --define '_topdir $(CURDIR)/build/rpm' \
		--define 'sublet_version $(VERSION)' \
		$(if $(wildcard /etc/debian_version),--nodeps) deploy/rpm/sublet.spec
	@find build/rpm/RPMS -name '*.rpm' -exec mv {} $(PACKAGES_DIR)/ \;
	@ls $(PACKAGES_DIR)/*.rpm

clean:
	rm -rf build

help:
	@echo 'make                         all programs, into build/gcc/bin (also build/bin)'
	@echo 'make deps                    installs what is missing (Debian), or says what'
	@echo 'make demo                    a federation on this machine'
	@echo 'make check                   lints, unit and property tests; no daemon'
	@echo 'make test                    all tests; ends with "N passed, N failed"'
	@echo 'make lints                   the lints alone'
	@echo 'make coverage                lines covered by unit, sim and io tests'
	@echo 'make fuzz T=codec S=60       fuzzes a target (codec, site, ...) that long'
	@echo 'make tidy, make format       clang-tidy, clang-format'
	@echo 'make bench                   figures beside their aims; B=jobs runs one, PEERS=1 with etcd, PostgreSQL, Slurm'
	@echo 'make bench-gate BASE=REV     the figures of two trees, run in turns; B="pass jobs"'
	@echo 'make mutate M=sched/preempt  changes one comparison at a time: does a test fail?'
	@echo 'make soak                    faults at random: WORLDS=5000 simulated ones, then N=200'
	@echo '                             against real daemons; S=SEED'
	@echo 'make soak-standby KILLS=100   the leader of two brokers killed under load'
	@echo 'make soak-floods S=3600      floods of a hostile member, and the memory of the broker'
	@echo 'make vm                      the guard in a virtual machine, for cgroup version 2'
	@echo 'make docs                    pages of configuration keys, from their tables'
	@echo 'make site                    docs/ as a site with search, into build/site'
	@echo 'make install, make uninstall DESTDIR=... PREFIX=$(PREFIX)'
	@echo 'make deb, make rpm           packages into build/packages'
	@echo 'make clean                   removes build/'
	@echo 'with any of them             CC=clang  SAN=address,undefined  V=1 (full commands)'
