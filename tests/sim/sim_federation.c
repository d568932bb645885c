/* SPDX-License-Identifier: Apache-2.0 */
/* sim_federation.c: federations in virtual time, by seed: messages lost, repeated and
 * overtaken, daemons crashed between any two effects, the broker restored from an old
 * backup. The invariants are checked after every step; once the faults have stopped,
 * everything must settle.
 *
 *     sim_federation               the fixed share of seeds
 *     sim_federation SEED          one seed, with every line that a daemon logs
 *     sim_federation FIRST COUNT   a search
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/conf.h"
#include "base/rng.h"
#include "consumer/consumer.h"
#include "provider/provider.h"
#include "sim/world.h"
#include "site/site_config.h"

enum { SEEDS = 150, SITES = 3, OTHERS = 2 };

/* A freeze lapses soon, so that proposals come late. north lends two hosts shared to
 * south and one slot-wise to east (exclusive); south lends a host shared to east, so it
 * is both; east only borrows. */
static const char *const site_files[SITES] = {
    "Begin Site\nNAME = north\nSPOOL = /n\nFREEZE_TIMEOUT = 2s\nEnd Site\n"
    "Begin Parameters\nMC_RECLAIM_DELAY = 10s\nEnd Parameters\n"
    "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 4\nn3 3\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\nEnd Queue\n"
    "Begin HostExport\nPER_HOST = n1 n2\nSLOTS = 3\nTYPE = shared\n"
    "DISTRIBUTION = ([south, 1])\nEnd HostExport\n"
    "Begin HostExport\nNAME = fixed\nPER_HOST = n3\nSLOTS = 2\n"
    "DISTRIBUTION = ([east, 1])\nEnd HostExport\n",

    "Begin Site\nNAME = south\nSPOOL = /s\nEnd Site\n"
    "Begin Parameters\nMC_RECLAIM_DELAY = 7s\nEnd Parameters\n"
    "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 4\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nHOSTS = all allremote\nEnd "
    "Queue\n"
    "Begin HostExport\nPER_HOST = s2\nSLOTS = 4\nTYPE = shared\n"
    "RECLAIM_POLICY = demand\nDISTRIBUTION = ([east, 1])\nEnd HostExport\n",

    "Begin Site\nNAME = east\nSPOOL = /e\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ne1 1\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nHOSTS = all allremote+1\nEnd "
    "Queue\n",
};

/* What administrators may make of it: a host grows, one shrinks, one goes, policies
 * change, come and go, a queue goes, a site stops borrowing. */
static const char *const other_files[SITES][OTHERS] = {
    {"Begin Site\nNAME = north\nSPOOL = /n\nFREEZE_TIMEOUT = 5s\nEnd Site\n"
     "Begin Parameters\nMC_RECLAIM_DELAY = 4s\nEnd Parameters\n"
     "Begin Host\nHOST_NAME MXJ\nn1 2\nn3 5\nEnd Host\n"
     "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
     "Begin HostExport\nPER_HOST = n1\nSLOTS = 2\nTYPE = shared\n"
     "DISTRIBUTION = ([south, 1])\nEnd HostExport\n"
     "Begin HostExport\nNAME = fixed\nPER_HOST = n3\nSLOTS = 4\n"
     "DISTRIBUTION = ([east, 1] [south, 1])\nEnd HostExport\n",

     "Begin Site\nNAME = north\nSPOOL = /n\nEnd Site\n"
     "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 4\nn3 3\nEnd Host\n"
     "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
     "Begin HostExport\nNAME = fixed\nPER_HOST = n3\nSLOTS = 2\nTYPE = shared\n"
     "DISTRIBUTION = ([east, 1])\nEnd HostExport\n"},

    {"Begin Site\nNAME = south\nSPOOL = /s\nEnd Site\n"
     "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 3\nEnd Host\n"
     "Begin Queue\nQUEUE_NAME = other\nPRIORITY = 30\nHOSTS = all allremote\n"
     "End Queue\n",

     "Begin Site\nNAME = south\nSPOOL = /s\nEnd Site\n"
     "Begin Host\nHOST_NAME MXJ\ns2 6\ns1 1\nEnd Host\n"
     "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
     "Begin HostExport\nPER_HOST = s2\nSLOTS = 4\n"
     "DISTRIBUTION = ([east, 1])\nEnd HostExport\n"},

    {"Begin Site\nNAME = east\nSPOOL = /e\nEnd Site\n"
     "Begin Host\nHOST_NAME MXJ\ne1 3\nEnd Host\n"
     "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nHOSTS = all@north\nEnd "
     "Queue\n",

     "Begin Site\nNAME = east\nSPOOL = /e\nEnd Site\n"
     "Begin Host\nHOST_NAME MXJ\ne1 1\nEnd Host\n"
     "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"},
};

struct setting {
    struct arena arena;
    struct broker_config broker, other_broker;
    struct site_setup sites[SITES], others[SITES][OTHERS];
};

static void read_site(struct arena *arena, const char *text, struct site_setup *site)
{
    struct conf conf;

    conf_init(&conf, arena);
    conf_read(&conf, "site.conf", text, strlen(text));
    conf_check(&conf);
    assert_true(site_config_read(&conf, site));
    for (const struct conf_diag *diag = conf.diags; diag; diag = diag->next) {
        fail_msg("%s:%d: %s", diag->file, diag->line, diag->text);
    }
    /* a Site without BROKER is alone; here the world is its uplink */
    site->config.is_alone = false;
}

static void setting_init(struct setting *setting)
{
    static const struct broker_member members[] = {
        {"east", ROLE_CONSUMER},
        {"north", ROLE_PROVIDER | ROLE_CONSUMER | ROLE_ADMIN},
        {"south", ROLE_PROVIDER | ROLE_CONSUMER},
    };

    arena_init(&setting->arena);
    setting->broker = (struct broker_config){members, 3, 15000};
    setting->other_broker = (struct broker_config){members + 1, 2, 8000};
    for (int i = 0; i < SITES; i++) {
        read_site(&setting->arena, site_files[i], &setting->sites[i]);
        for (int j = 0; j < OTHERS; j++) {
            read_site(&setting->arena, other_files[i][j], &setting->others[i][j]);
        }
    }
}

static void setting_release(struct setting *setting)
{
    arena_release(&setting->arena);
}

static struct world *new_world(struct setting *setting,
                               const struct world_options *options)
{
    struct world *world = world_new(options, &setting->broker);

    for (int i = 0; i < SITES; i++) {
        world_add_site(world, &setting->sites[i].config);
    }
    return world;
}

/* ---- the demo's story, at exact virtual times ---------------------------------------
 */

static void expect_split(const struct world *world, const char *id, uint64_t epoch,
                         enum lease_state state, int provider, int consumer)
{
    struct row_lease lease;
    int held_p = 0, held_c = 0;

    assert_true(broker_find_lease(world_broker(world), id, &lease));
    for (int i = 0; i < lease.n_hosts; i++) {
        held_p += lease.hosts[i].provider;
        held_c += lease.hosts[i].consumer;
    }
    assert_int_equal(lease.epoch, epoch);
    assert_int_equal(lease.state, state);
    assert_int_equal(held_p, provider);
    assert_int_equal(held_c, consumer);
}

static void run(struct world *world, int64_t until_ms)
{
    if (!world_run(world, until_ms)) {
        fail_msg("%s", world_violation(world));
    }
}

static void test_story(void **state)
{
    struct world_options options = {.seed = 1};
    struct setting setting;
    struct world *world;

    (void)state;
    setting_init(&setting);
    world = new_world(&setting, &options);
    run(world, 1000);
    expect_split(world, "north/1/south", 1, LEASE_PENDING, 5, 1);
    expect_split(world, "north/fixed/east", 1, LEASE_PENDING, 0, 2);
    /* south may use 5 of its own 6 slots (one waits for east): the sixth job makes the
     * lease */
    for (int i = 0; i < 9; i++) {
        assert_true(world_submit(world, 1, "normal", 1, 30000, false));
    }
    run(world, 2000);
    expect_split(world, "north/1/south", 1, LEASE_ACTIVE, 5, 1);
    run(world, 10900); /* made at 1 s, judged 10 s later */
    expect_split(world, "north/1/south", 1, LEASE_ACTIVE, 5, 1);
    run(world, 12000);
    expect_split(world, "north/1/south", 2, LEASE_ACTIVE, 0, 6);
    /* south's three waiting jobs start at 11 s; two of its six leased slots stay idle,
     * and the rule sends them home at 21 s, where north's work is waiting by then */
    for (int i = 0; i < 11; i++) {
        assert_true(world_submit(world, 0, "normal", 1, 60000, false));
    }
    run(world, 20900);
    expect_split(world, "north/1/south", 2, LEASE_ACTIVE, 0, 6);
    run(world, 22000);
    expect_split(world, "north/1/south", 3, LEASE_ACTIVE, 2, 4);
    /* a leased job ends at 31 s, the other three at 41 s: the slots go home as they
     * idle
     */
    run(world, 32000);
    expect_split(world, "north/1/south", 4, LEASE_ACTIVE, 3, 3);
    run(world, 42000);
    expect_split(world, "north/1/south", 5, LEASE_ACTIVE, 6, 0);
    world_free(world);
    setting_release(&setting);
}

/* ---- random worlds
 * ------------------------------------------------------------------- */

static struct world_options faults_of(uint64_t seed)
{
    struct world_options options = {.seed = seed};

    switch (seed % 4) {
    case 0: /* a good network, crashes */
        options.crash_in_10000 = 100;
        options.down_max_ms = 20000;
        break;
    case 1: /* a bad network, no crashes */
        options.loss_in_10000 = 2000;
        options.repeat_in_10000 = 2000;
        options.delay_max_ms = 3000;
        break;
    case 2:
        options.loss_in_10000 = 1000;
        options.repeat_in_10000 = 1000;
        options.delay_max_ms = 500;
        options.crash_in_10000 = 50;
        options.down_max_ms = 5000;
        break;
    default: /* late only */
        options.delay_max_ms = 100;
        options.crash_in_10000 = 20;
        options.down_max_ms = 60000;
        break;
    }
    return options;
}

/* Of what is drained most is resumed, or nothing would be left to happen. */
static void disturb_drain(struct world *world, struct rng *rng)
{
    static const char *const leases[] = {"north/1/south", "north/fixed/east",
                                         "south/1/east"};
    static const char *const sites[] = {"north", "south", "east"};
    bool is_site = rng_percent(rng, 25), is_drained = rng_percent(rng, 40);
    const char *name = is_site ? sites[rng_below(rng, 3)] : leases[rng_below(rng, 3)];

    /* north's key is an administrator's too */
    world_drain(world, 0, is_site ? DRAIN_SITE : DRAIN_LEASE, name, is_drained);
}

static void disturb_config(struct world *world, struct setting *setting,
                           struct rng *rng)
{
    int site = (int)rng_below(rng, SITES + 1), which = (int)rng_below(rng, OTHERS + 1);

    if (site == SITES) {
        world_reload_broker(world, which ? &setting->broker : &setting->other_broker);
    } else {
        world_reload_site(world, site,
                          which < OTHERS ? &setting->others[site][which].config
                                         : &setting->sites[site].config);
    }
}

static void restore_config(struct world *world, struct setting *setting)
{
    world_reload_broker(world, &setting->broker);
    for (int i = 0; i < SITES; i++) {
        world_reload_site(world, i, &setting->sites[i].config);
    }
}

static void disturb_hosts(struct world *world, struct rng *rng)
{
    static const struct {
        int site;
        const char *host;
    } hosts[] = {{0, "n1"}, {1, "n1@north"}, {1, "s2"}, {2, "s2@south"}};
    int64_t which = rng_below(rng, 4);

    world_close(world, hosts[which].site, hosts[which].host, rng_percent(rng, 40));
}

static void open_hosts(struct world *world)
{
    world_close(world, 0, "n1", false);
    world_close(world, 1, "n1@north", false);
    world_close(world, 1, "s2", false);
    world_close(world, 2, "s2@south", false);
}

static void disturb(struct world *world, struct setting *setting, struct rng *rng,
                    bool with_faults)
{
    int site = (int)rng_below(rng, SITES);
    int64_t what = rng_below(rng, 100);

    if (what < 60) {
        world_submit(world, site, "normal", (int)(1 + rng_below(rng, 3) / 2),
                     1000 + rng_below(rng, 40000), rng_percent(rng, 30));
    } else if (what < 75) {
        world_control(world, site, 1 + (uint64_t)rng_below(rng, 40), 0,
                      (enum control_action)(1 + rng_below(rng, 3)));
    } else if (what < 80) {
        world_set_reclaim(world, 0, RECLAIM_PROVIDER, "north",
                          1000 + rng_below(rng, 20000));
    } else if (what < 84) {
        disturb_drain(world, rng);
    } else if (what < 86) {
        disturb_config(world, setting, rng);
    } else if (what >= 97) {
        disturb_hosts(world, rng);
    } else if (with_faults && what < 89) {
        world_partition(world, site, rng_below(rng, 40000));
    } else if (with_faults && what < 92) {
        world_crash(world, site - 1, rng_below(rng, 20000));
    } else if (with_faults && what < 93) {
        world_backup_broker(world);
    } else if (with_faults && what < 94) {
        world_restore_broker(world, rng_below(rng, 5000));
    }
}

static void resume_all(struct world *world)
{
    for (int i = 0; i < SITES; i++) {
        for (int j = 0;
             world_site(world, i) && j < site_count_jobs(world_site(world, i)); j++) {
            struct site_job job;

            site_job_at(world_site(world, i), j, &job);
            if (job.state == JOB_USUSP || job.state == JOB_PSUSP) {
                world_control(world, i, job.id, job.index, CONTROL_RESUME);
            }
        }
    }
}

/* What was drained may hold all that a waiting job could run on. */
static void resume_leases(struct world *world)
{
    static const char *const leases[] = {"north/1/south", "north/fixed/east",
                                         "south/1/east"};
    static const char *const sites[] = {"north", "south", "east"};

    for (int i = 0; i < 3; i++) {
        world_drain(world, 0, DRAIN_LEASE, leases[i], false);
        world_drain(world, 0, DRAIN_SITE, sites[i], false);
    }
}

static bool run_until_settled(struct world *world, char *text, int size)
{
    bool is_well = true;

    for (int i = 0; is_well && i < 100 && !world_is_settled(world, text, size); i++) {
        is_well = world_run(world, world_now_ms(world) + 20000 + 37);
    }
    return is_well;
}

/* True when it went well; else the reason is printed. */
static bool try_seed(uint64_t seed, world_trace_fn trace)
{
    struct world_options options = faults_of(seed), none = {.seed = seed};
    struct setting setting;
    struct world *world;
    struct world_counts counts;
    struct rng rng;
    char text[512] = "";
    bool is_well;

    setting_init(&setting);
    rng_init(&rng, seed * 7919 + 1);
    world = new_world(&setting, &options);
    world_set_trace(world, trace, NULL);
    world_backup_broker(world);
    is_well = world_run(world, 1000);
    while (is_well && world_now_ms(world) < 300000) {
        disturb(world, &setting, &rng, true);
        is_well = world_run(world, world_now_ms(world) + rng_below(&rng, 4000));
    }
    world_set_faults(world, &none);
    restore_config(world, &setting);
    is_well = is_well && world_run(world, world_now_ms(world) + 90000);
    if (is_well) {
        resume_all(world);
        resume_leases(world);
        open_hosts(world);
        is_well = run_until_settled(world, text, sizeof text);
    }
    if (is_well && world_is_settled(world, text, sizeof text)) {
        /* nothing runs: what is drained now ends at once */
        world_drain(world, 0, DRAIN_SITE, "south", true);
        is_well = world_run(world, world_now_ms(world) + 10000);
    }
    if (is_well && !world_is_settled(world, text, sizeof text)) {
        is_well = false;
        printf("seed %" PRIu64 ": never settles: %s\n", seed, text);
    } else if (!is_well) {
        printf("%s\n", world_violation(world));
    }
    counts = world_counts(world);
    if (trace || !is_well) {
        printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64 " messages (%" PRIu64
               " lost), %" PRIu64 " crashes, %" PRIu64 " jobs, %" PRIu64
               " begun, %" PRIu64 " hand-overs\n",
               seed, counts.steps, counts.messages, counts.lost, counts.crashes,
               counts.submitted, counts.begun, counts.handovers);
    }
    /* a world in which nothing happens proves nothing */
    if (is_well && (!counts.begun || !counts.submitted)) {
        printf("seed %" PRIu64 ": nothing ran\n", seed);
        is_well = false;
    }
    world_free(world);
    setting_release(&setting);
    return is_well;
}

static int search(uint64_t first, uint64_t count, world_trace_fn trace)
{
    int failed = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        failed += !try_seed(seed, trace);
    }
    return failed;
}

static void test_seeds(void **state)
{
    (void)state;
    assert_int_equal(search(1, SEEDS, NULL), 0);
}

static void print_line(void *arg, int64_t now_ms, const char *line)
{
    (void)arg;
    printf("%10.3f %s\n", (double)now_ms / 1000.0, line);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_story),
        cmocka_unit_test(test_seeds),
    };

    if (argc == 2) {
        return search(strtoull(argv[1], NULL, 10), 1, print_line);
    }
    if (argc == 3) {
        return search(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), NULL) !=
               0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
