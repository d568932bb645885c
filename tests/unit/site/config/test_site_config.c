/* SPDX-License-Identifier: Apache-2.0 */
/* A site's configuration: what comes out of it, and what is complained about, where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/config/site_config.h"

#define SITE "Begin Site\nNAME = north\nSPOOL = /s\nEnd Site\n"
#define HOSTS "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 2\nEnd Host\n"
#define CONSUMER                                                                       \
    "Begin Site\nNAME = n\nSPOOL = /s\nBROKER = tcp://h:1\nKEY = k\n"                  \
    "BROKER_KEY = a\nSLURM_BORROW_PARTITION = guests\n"
#define QUEUE "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"

#define HEAT                                                                           \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL\nheat Numeric 30\nsize Numeric ()\n"   \
    "lic Numeric 30\nEnd Resource\nBegin ResourceMap\nRESOURCENAME LOCATION\n"         \
    "lic ([all])\nEnd ResourceMap\n"

struct world {
    struct arena arena;
    struct conf conf;
    struct site_setup setup;
    bool has_site;
};

static void read_text(struct world *world, const char *text)
{
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "site.conf", text, strlen(text));
    conf_check(&world->conf);
    world->has_site = site_config_read(&world->conf, &world->setup);
}

static void test_whole(void **state)
{
    struct world world;
    (void)state;
    read_text(&world,
              "Begin Site\nNAME = north\nBROKER = tcp://h:1\nKEY = k\n"
              "BROKER_KEY = b\nSPOOL = /var/s\nLISTEN = tcp://h:2\nHOST_KEYS = h\n"
              "HOSTS_HERE = n1 n2\nFREEZE_TIMEOUT = 5s\nADMINS = olga\n"
              "LEASE_USER = guest\nROLES = provider\nEnd Site\n"
              "Begin Host\nHOST_NAME MXJ type model RESOURCES\n"
              "n1 4 X86_64 EPYC (linux bigmem)\nn2 2 X86_64 - (linux)\nEnd Host\n"
              "Begin Parameters\nMC_RECLAIM_DELAY = 10s\nCLEAN_PERIOD = 60\n"
              "DEFAULT_QUEUE = night normal\nMIN_HOLD = 3s\nLEDGER_SIZE = 7\n"
              "USER_JOBS_SIZE = 9\n"
              "End Parameters\n" QUEUE
              "Begin Queue\nQUEUE_NAME = night\nPRIORITY = 9\nEnd Queue\n"
              "Begin HostExport\nNAME = spare\nPER_HOST = n1 n2\nSLOTS = 2\n"
              "TYPE = shared\nDISTRIBUTION = ([south, 1])\nEnd HostExport\n");
    for (const struct conf_diag *diag = world.conf.diags; diag != NULL;
         diag = diag->next) {
        fail_msg("line %d: %s", diag->line, diag->text);
    }
    const struct site_config *config = &world.setup.config;
    assert_true(world.has_site);
    assert_string_equal(config->name, "north");
    assert_int_equal(config->roles, ROLE_PROVIDER);
    assert_false(config->is_alone);
    assert_int_equal(config->n_hosts, 2);
    assert_string_equal(config->hosts[0].name, "n1");
    assert_int_equal(config->hosts[0].max, 4);
    assert_string_equal(config->hosts[0].model, "EPYC");
    assert_string_equal(config->hosts[1].model, "");
    assert_true(config->hosts[1].is_here);
    assert_int_equal(config->n_queues, 2);
    assert_string_equal(config->default_queue, "night");
    assert_int_equal(config->reclaim_delay_ms, 10000);
    assert_int_equal(config->freeze_timeout_ms, 5000);
    assert_int_equal(config->clean_period_ms, 60000);
    assert_int_equal(config->ledger_mib, 7);
    assert_int_equal(config->user_jobs_mib, 9);
    assert_string_equal(config->lease_account, "guest");
    assert_int_equal(config->n_admins, 1);
    assert_int_equal(config->exports.n_leases, 1);
    assert_int_equal(config->exports.leases[0].terms.min_hold_ms, 3000);
    assert_string_equal(world.setup.socket, "/var/s/sublet.sock");
    assert_int_equal(world.setup.n_hosts_here, 2);
    arena_release(&world.arena);
}

/* ADMINS is of the file that only Sublet reads, so that it decides. */
static void test_admins(void **state)
{
    static const struct {
        const char *text, *admins;
    } rows[] = {
        {SITE HOSTS QUEUE, "root"},
        {SITE HOSTS QUEUE "Begin ClusterAdmins\nAdministrators = lsfadmin ops\n"
                          "End ClusterAdmins\n",
         "lsfadmin ops"},
        {"Begin Site\nNAME = north\nSPOOL = /s\nADMINS = olga\nEnd Site\n" HOSTS QUEUE
         "Begin ClusterAdmins\nADMINISTRATORS = lsfadmin\nEnd ClusterAdmins\n",
         "olga"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char admins[64] = "";
        read_text(&world, rows[i].text);
        assert_null(world.conf.diags);
        for (int k = 0; k < world.setup.config.n_admins; k++) {
            size_t length = strlen(admins);
            snprintf(admins + length, sizeof(admins) - length, "%s%s", k > 0 ? " " : "",
                     world.setup.config.admins[k]);
        }
        assert_string_equal(admins, rows[i].admins);
        arena_release(&world.arena);
    }
}

/* LSF's manual has "-" for the method of a resource that counts as by default. */
static void test_reservation_usage_without_method(void **state)
{
    struct world world;
    (void)state;
    read_text(&world, SITE HOSTS QUEUE
              "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"
              "r1 Numeric () N (one)\nr2 Numeric () N (two)\nEnd Resource\n"
              "Begin ReservationUsage\nRESOURCE METHOD\nr1 -\nr2 PER_HOST\n"
              "End ReservationUsage\n");
    assert_null(world.conf.diags);
    assert_int_equal(world.setup.config.n_methods, 1);
    assert_string_equal(world.setup.config.methods[0].resource, "r2");
    arena_release(&world.arena);
}

static void test_defaults(void **state)
{
    struct world world;
    (void)state;
    read_text(&world, SITE HOSTS QUEUE);
    const struct site_config *config = &world.setup.config;
    assert_int_equal(world.conf.n_errors, 0);
    assert_true(config->is_alone);
    assert_int_equal(config->roles, ROLE_PROVIDER | ROLE_CONSUMER);
    assert_int_equal(config->reclaim_delay_ms, 0);
    assert_int_equal(config->freeze_timeout_ms, 30000);
    assert_int_equal(config->clean_period_ms, 3600000);
    assert_string_equal(config->default_queue, "normal");
    assert_int_equal(config->user_jobs_mib, 1024);
    assert_string_equal(config->lease_account, "");
    assert_int_equal(config->lease_uids.first, 2000000000);
    assert_int_equal(config->lease_uids.last, 2000065535);
    assert_string_equal(config->admins[0], "root");
    arena_release(&world.arena);

    read_text(&world, QUEUE); /* no site here: nothing to complain about */
    assert_false(world.has_site);
    assert_int_equal(world.conf.n_errors, 0);
    arena_release(&world.arena);
}

#define LENDS(more)                                                                    \
    "Begin Site\nNAME = north\nSPOOL = /s\n" more "End Site\n" HOSTS QUEUE             \
    "Begin HostExport\nPER_HOST = n1\nSLOTS = 2\nTYPE = shared\n"                      \
    "DISTRIBUTION = ([south, 1])\nEnd HostExport\n"

/* As whom leased jobs run; a daemon with one account lends nothing unasked. */
static void test_lease_user(void **state)
{
    static const struct {
        const char *why, *text;
        int64_t uid, lease_user_uid;
        const char *account;
        const char *complaint; /* NULL: none */
        bool is_error, lends;
        const char *taken;
    } rows[] = {
        {"root: an account for each user", LENDS(""), 0, -1, "", NULL, false, true,
         NULL},
        {"but its number is somebody's", LENDS(""), 0, -1, "",
         "2000000000-2000065535 contains the number of user eve", true, true,
         "user eve"},
        {"which does not matter to a daemon that has one account",
         LENDS("LEASE_USER = self\n"), 1000, -1, "", "as \"ana\"", false, true,
         "user eve"},
        {"several sites share an account",
         "Begin Site\nNAME = north\nSPOOL = /s\nLEASE_USER = nobody\nEnd Site\n" HOSTS
             QUEUE "Begin HostExport\nPER_HOST = n1\nSLOTS = 2\n"
         "DISTRIBUTION = ([south, 1] [east, 1])\nEnd HostExport\n",
         0, 7, "nobody", "jobs of several sites run as \"nobody\"", false, true, NULL},
        {"not root: it lends nothing", LENDS(""), 1000, -1, "root",
         "the daemon runs as \"ana\" and not as root: it lends nothing", false, false,
         NULL},
        {"nor with another account, which it cannot become",
         LENDS("LEASE_USER = guest\n"), 1000, 7, "root", "it lends nothing", false,
         false, NULL},
        {"it was told to", LENDS("LEASE_USER = self\n"), 1000, -1, "",
         "jobs of other sites run as \"ana\"", false, true, NULL},
        {"root", LENDS("LEASE_USER = guest\n"), 0, 7, "guest", NULL, false, true, NULL},
        {"root has no such account", LENDS("LEASE_USER = guest\n"), 0, -1, "guest",
         "\"guest\", expected a user of this machine", true, true, NULL},
        {"root's own", LENDS("LEASE_USER = toor\n"), 0, 0, "toor", "\"toor\", expected",
         true, true, NULL},
        {"self is root", LENDS("LEASE_USER = self\n"), 0, -1, "self",
         "never run as root", true, true, NULL},
        {"nothing is exported", SITE HOSTS QUEUE, 1000, -1, "", NULL, false, true,
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_text(&world, rows[i].text);
        struct site_config *config = &world.setup.config;
        struct site_machine machine = {.uid = rows[i].uid,
                                       .user = "ana",
                                       .lease_user_uid = rows[i].lease_user_uid,
                                       .uids_taken = rows[i].taken};
        lease_user_judge(&world.conf, &machine, config);
        const struct conf_diag *diag = world.conf.diags;
        bool is_same = rows[i].complaint == NULL
                           ? diag == NULL
                           : diag != NULL &&
                                 strstr(diag->text, rows[i].complaint) != NULL &&
                                 (diag->severity == CONF_ERROR) == rows[i].is_error;
        if (!is_same || strcmp(config->lease_account, rows[i].account) != 0 ||
            (config->withheld == NULL) != rows[i].lends ||
            config->daemon_uid != rows[i].uid) {
            fail_msg("%s: \"%s\", \"%s\"", rows[i].why, config->lease_account,
                     diag != NULL ? diag->text : "");
        }
        arena_release(&world.arena);
    }
}

static void test_merged_rows(void **state)
{
    struct world world;
    (void)state;
    read_text(&world,
              SITE QUEUE "Begin Host\nHOSTNAME type model\nn2 ARM a\nn1 X86 b\n"
                         "End Host\n"
                         "Begin Host\nHOST_NAME MXJ\nn1 4\ndefault 8\nEnd Host\n");
    const struct site_config *config = &world.setup.config;
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(config->n_hosts, 2);
    assert_string_equal(config->hosts[0].name, "n2"); /* as they first come */
    assert_int_equal(config->hosts[0].max, 8);        /* of row default */
    assert_int_equal(config->hosts[1].max, 4);
    assert_string_equal(config->hosts[1].type, "X86");
    arena_release(&world.arena);
}

/* "!" and no MXJ at all mean the number of CPUs; row default counts before that. */
static void test_counted_slots(void **state)
{
    static const struct {
        const char *hosts;
        int max; /* of n1; -1: counted */
        const char *why;
    } rows[] = {
        {"HOST_NAME MXJ\nn1 !", -1, "MXJ of ! is counted"},
        {"HOST_NAME MXJ\nn1 -", -1, "without MXJ anywhere it is counted"},
        {"HOSTNAME type\nn1 X86", -1, "also without the column"},
        {"HOST_NAME MXJ\nn1 -\ndefault 8", 8, "row default has MXJ"},
        {"HOST_NAME MXJ\nn1 -\ndefault !", -1, "row default says: counted"},
        {"HOST_NAME MXJ\nn1 !\ndefault 8", -1, "its own row says: counted"},
        {"HOST_NAME MXJ\nn1 4\ndefault !", 4, "its own row says: 4"},
        {"HOST_NAME MXJ\nn1 0\ndefault 8", 0, "0 is a number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[512];
        snprintf(text, sizeof(text),
                 SITE QUEUE "EGO_DEFINE_NCPUS = cores\nBegin Host\n%s\nEnd Host\n",
                 rows[i].hosts);
        read_text(&world, text);
        const struct site_host *host = &world.setup.config.hosts[0];
        if (world.conf.n_errors != 0 || host->is_counted != (rows[i].max < 0) ||
            (rows[i].max >= 0 && host->max != rows[i].max) ||
            host->cpus != NCPUS_CORES) {
            fail_msg("%s: max %d, counted %d", rows[i].why, host->max,
                     host->is_counted);
        }
        arena_release(&world.arena);
    }
}

/* LSF's forms, with and without parentheses; N by default. */
static void test_affinity(void **state)
{
    static const struct {
        const char *cell, *cpus; /* "all", "none", a list, or NULL: an error */
    } rows[] = {
        {"Y", "all"},    {"(y)", "all"},       {"N", "none"}, {"()", "none"},
        {"-", "none"},   {"(0,2-5)", "0,2-5"}, {"3", "3"},    {"(7 0, 2-4)", "0,2-4,7"},
        {"(yes)", NULL}, {"(5-2)", NULL},      {"(,)", NULL}, {"(2048)", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[512], got[CPU_LIST_SIZE] = "none";
        snprintf(text, sizeof(text),
                 SITE QUEUE "Begin Host\nHOST_NAME MXJ AFFINITY\nn1 4 %s\nEnd Host\n",
                 rows[i].cell);
        read_text(&world, text);
        const struct site_host *host = &world.setup.config.hosts[0];
        assert_int_equal(world.conf.n_errors, rows[i].cpus == NULL ? 1 : 0);
        if (host->affinity_cpus != NULL) {
            cpu_set_format(host->affinity_cpus, got);
        } else if (host->has_affinity) {
            snprintf(got, sizeof(got), "all");
        }
        if (rows[i].cpus != NULL) {
            assert_string_equal(got, rows[i].cpus);
        }
        arena_release(&world.arena);
    }
}

/* One key for all, or one for each in their order. */
static void test_brokers(void **state)
{
    static const struct {
        const char *brokers, *keys, *want;
        bool has_standbys;
    } rows[] = {
        {"tcp://a:1", "k", "tcp://a:1=k", false},
        {"tcp://a:1  tcp://b:1", "k", "tcp://a:1=k tcp://b:1=k", true},
        {"tcp://a:1 tcp://b:1", "ka kb", "tcp://a:1=ka tcp://b:1=kb", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[512], got[256] = "";
        snprintf(text, sizeof(text),
                 "Begin Site\nNAME = n\nSPOOL = /s\nKEY = k\nBROKER = %s\n"
                 "BROKER_KEY = %s\nEnd Site\n" HOSTS QUEUE,
                 rows[i].brokers, rows[i].keys);
        read_text(&world, text);
        assert_int_equal(world.conf.n_errors, 0);
        for (int b = 0; b < world.setup.n_brokers; b++) {
            size_t n = strlen(got);
            snprintf(got + n, sizeof(got) - n, "%s%s=%s", b > 0 ? " " : "",
                     world.setup.brokers[b].endpoint, world.setup.brokers[b].key);
        }
        assert_string_equal(got, rows[i].want);
        assert_int_equal(world.setup.config.has_standbys, rows[i].has_standbys);
        arena_release(&world.arena);
    }
}

#define UNITS(types, rows)                                                             \
    SITE HOSTS QUEUE "Begin Parameters\nCOMPUTE_UNIT_TYPES = " types                   \
                     "\nEnd Parameters\nBegin ComputeUnit\nNAME MEMBER TYPE\n" rows    \
                     "End ComputeUnit\n"

static void test_units(void **state)
{
    struct world world;
    (void)state;
    read_text(&world, UNITS("encl rack!", "e2 (n2) encl\ne1 (n1) encl\n"
                                          "r1 (e1 e2) rack\n"));
    assert_int_equal(world.conf.n_errors, 0);
    const struct compute_units *units = &world.setup.config.units;
    assert_int_equal(units->types.n_names, 2);
    assert_int_equal(units->types.first, 1);
    assert_string_equal(units->types.names[1], "rack");
    assert_int_equal(compute_unit_of(units, 0, "n1"), 1); /* in file order */
    assert_int_equal(compute_unit_of(units, 0, "n2"), 0);
    assert_int_equal(compute_unit_of(units, 1, "n2"), 0);
    assert_int_equal(compute_unit_of(units, 1, "n3"), -1);
    static const struct {
        const char *value;
        bool is_exclusive;
        int type;
    } rows[] = {{"N", false, -1},      {"y", true, -1},         {"CU", true, 1},
                {"cu[]", true, 1},     {"CU[encl]", true, 0},   {"CU[rack]", true, 1},
                {"CU[row]", true, -1}, {"CU[encl]x", false, -1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct queue_config queue;
        struct err err;
        int code = queue_exclusive_read(&world.arena, rows[i].value, &queue, &err);
        assert_int_equal(code != 0, i == 7);
        assert_int_equal(queue.is_exclusive, rows[i].is_exclusive);
        assert_int_equal(compute_units_exclusive_type(units, &queue), rows[i].type);
    }
    arena_release(&world.arena);
}

/* Borrowed hosts as nodes of Slurm: the keys, and the limit of one slurmd on a host. */
static void test_slurm_borrow(void **state)
{
    struct world world;
    (void)state;
    read_text(&world, CONSUMER
              "SLURM_BORROW_NODES = 5\nSLURM_BORROW_IDLE = 90s\n"
              "SLURM_BORROW_SLURMD = /opt/slurmd --conf-server c\n"
              "SLURM_BIN = /opt/bin\nSLURM_INTERVAL = 3s\nEnd Site\n" HOSTS QUEUE
              "Begin Queue\nQUEUE_NAME = guests\nHOSTS = all@north h1@west\n"
              "End Queue\n");
    for (const struct conf_diag *diag = world.conf.diags; diag != NULL;
         diag = diag->next) {
        fail_msg("line %d: %s", diag->line, diag->text);
    }
    const struct site_setup *setup = &world.setup;
    assert_string_equal(setup->slurm_borrow.partition, "guests");
    assert_string_equal(setup->slurm_borrow.slurmd, "/opt/slurmd --conf-server c");
    assert_int_equal(setup->slurm_borrow.n_nodes, 5);
    assert_int_equal(setup->slurm_borrow.idle_ms, 90000);
    assert_int_equal(setup->slurm_borrow.stay_ms, 12 * 3600 * 1000);
    assert_string_equal(setup->slurm.bin, "/opt/bin");
    assert_string_equal(setup->slurm.conf, "");
    assert_int_equal(setup->slurm.interval_ms, 3000);
    const struct limit *limit = &setup->config.limits[0];
    assert_int_equal(setup->config.n_limits, 1);
    assert_int_equal(limit->jobs, 1);
    assert_int_equal(limit->slots, -1);
    assert_int_equal(limit->sides[LIMIT_HOSTS].mode, LIMIT_EACH);
    assert_true(limit_side_has(&limit->sides[LIMIT_HOSTS], "h1@west"));
    assert_true(limit_side_has(&limit->sides[LIMIT_QUEUES], "guests"));
    assert_false(limit_side_has(&limit->sides[LIMIT_QUEUES], "normal"));
    arena_release(&world.arena);

    read_text(&world, SITE HOSTS QUEUE);
    assert_null(world.setup.slurm_borrow.partition);
    assert_int_equal(world.setup.config.n_limits, 0);
    arena_release(&world.arena);
}

static void test_complaints(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *says, *why;
    } rows[] = {
        {"Begin Site\nSPOOL = /s\nEnd Site\n" HOSTS QUEUE, 1, "NAME is missing",
         "a site has a name"},
        {"Begin Site\nNAME = n\nEnd Site\n" HOSTS QUEUE, 1, "SPOOL is missing",
         "and a spool"},
        {UNITS("encl", "e1 (n1) rack\n"), 18, "expected a TYPE of COMPUTE_UNIT_TYPES",
         "a type that is not listed"},
        {SITE HOSTS QUEUE "Begin ComputeUnit\nNAME MEMBER TYPE\ne1 (n1) encl\n"
                          "End ComputeUnit\n",
         15, "which is not set", "no types at all"},
        {UNITS("encl rack", "e1 (n1) encl\nr1 (n2) rack\n"), 19,
         "\"n2\" is no compute unit of a finer type", "hosts are in the finest type"},
        {UNITS("encl rack", "e1 (n1) encl\ne2 (e1) encl\n"), 19,
         "\"e1\" is a compute unit", "of which units are no members"},
        {UNITS("encl rack", "e1 (n1) encl\nr1 (r2) rack\nr2 (e1) rack\n"), 19,
         "\"r2\" is no compute unit of a finer type", "a rack in a rack"},
        {UNITS("encl rack row", "e1 (n1) encl\ne2 (n2) encl\nr1 (e1) rack\n"
                                "row1 (r1) row\nrow2 (e2) row\n"),
         22, "other units of type row have units of type rack",
         "units of a type have one type of members"},
        {UNITS("encl", "e1 (n1) encl\ne2 (n2 n1) encl\n"), 19,
         "host \"n1\" is in two compute units of type encl", "a host is in one"},
        {UNITS("encl", "e1 (all) encl\n"), 18, "\"all\": expected names of own hosts",
         "names alone"},
        {UNITS("encl! rack!", "e1 (n1) encl\n"), 14, "more than one default type",
         "one default"},
        {UNITS("encl encl", "e1 (n1) encl\n"), 14, "the type \"encl\" appears twice",
         "a type once"},
        {UNITS("encl", "e1 (n1) encl\n") "Begin Queue\nQUEUE_NAME = mpi\n"
                                         "RES_REQ = cu[type=rack]\nEnd Queue\n",
         22, "there is no compute unit type of this name", "a queue's"},
        {UNITS("encl", "e1 (n1) encl\n") "Begin Queue\nQUEUE_NAME = mpi\n"
                                         "EXCLUSIVE = CU[rack]\nEnd Queue\n",
         22, "\"CU[rack]\" names no type of COMPUTE_UNIT_TYPES", "of known units"},
        {UNITS("encl", "e1 (n1) encl\n") "Begin Queue\nQUEUE_NAME = mpi\n"
                                         "EXCLUSIVE = CU[encl\nEnd Queue\n",
         22, "expected Y, N, CU or CU[type of compute units]", "not closed"},
        {UNITS("encl", "e1 (n1) encl\n") "Begin Queue\nQUEUE_NAME = mpi\n"
                                         "EXCLUSIVE = CUencl\nEnd Queue\n",
         22, "expected Y, N, CU or CU[type of compute units]", "no brackets"},
        {UNITS("encl", "e1 (n1) encl\n") "Begin Queue\nQUEUE_NAME = mpi\n"
                                         "RES_REQ = cu[excl]\nEnd Queue\n",
         22, "cu[excl] needs EXCLUSIVE = CU[encl]", "what the queue does not allow"},
        {UNITS("encl rack!",
               "e1 (n1) encl\nr1 (e1) rack\n") "Begin Queue\nQUEUE_NAME = "
                                               "mpi\nEXCLUSIVE = CU[encl]\n"
                                               "RES_REQ = cu[type=rack:excl]\nEnd "
                                               "Queue\n",
         24, "cu[excl] needs EXCLUSIVE = CU[rack]", "a coarser unit than it allows"},
        {SITE HOSTS QUEUE "Begin Queue\nQUEUE_NAME = mpi\n"
                          "RES_REQ = affinity[core(1,exclusive=(socket,alljobs))]\n"
                          "End Queue\n",
         15, "needs EXCLUSIVE = Y in this queue", "all jobs of the host"},
        {SITE HOSTS QUEUE "Begin Queue\nQUEUE_NAME = mpi\n"
                          "EXCLUSIVE = CU\nEnd Queue\n",
         15, "\"CU\" names no type of COMPUTE_UNIT_TYPES", "no types, no default"},
        {SITE HOSTS QUEUE "Begin Queue\nQUEUE_NAME = mpi\n"
                          "RES_REQ = cu[balance]\nEnd Queue\n",
         15, "the site has no compute units", "and there are none"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nBROKER = tcp://h:1\nKEY = k\nEnd "
         "Site\n" HOSTS QUEUE,
         1, "BROKER_KEY is missing", "the broker's key is known beforehand"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nBROKER = tcp://h:1 tcp://h:2 tcp://h:3\n"
         "KEY = k\nBROKER_KEY = a b\nEnd Site\n" HOSTS QUEUE,
         6, "BROKER_KEY has 2 files for 3 brokers", "one for all, or each its own"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nBROKER = tcp://h:1 tcp://h:1\n"
         "KEY = k\nBROKER_KEY = a\nEnd Site\n" HOSTS QUEUE,
         4, "broker tcp://h:1 is listed twice", "a broker once"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nKEY = k\nLISTEN = tcp://h:1\nEnd "
         "Site\n" HOSTS QUEUE,
         1, "HOST_KEYS is missing", "and each its own"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nLISTEN = tcp://h:1\nHOST_KEYS = k\nEnd "
         "Site\n" HOSTS QUEUE,
         1, "KEY is missing", "hosts from elsewhere need a key"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nHOSTS_HERE = n1 n9\nEnd Site\n" HOSTS QUEUE,
         4, "unknown host \"n9\"", "hosts here are hosts"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nROLES = lender\nEnd Site\n" HOSTS QUEUE, 4,
         "unknown role \"lender\"", "roles are known"},
        {SITE SITE HOSTS QUEUE, 5, "a second site", "one site a configuration"},
        {SITE "Begin Host\nHOST_NAME MXJ\nn1 4\nn1 2\nEnd Host\n" QUEUE, 8,
         "host \"n1\" is defined twice", "a host once"},
        {SITE "Begin Host\nHOST_NAME MXJ\nn1 many\nEnd Host\n" QUEUE, 7,
         "\"many\" is not a whole number", "slots are a number or !"},
        {SITE HOSTS, 1, "no queue", "jobs need a queue"},
        {SITE HOSTS QUEUE "Begin Parameters\nDEFAULT_QUEUE = x\nEnd Parameters\n", 14,
         "unknown queue \"x\"", "the default queue exists"},
        {SITE HOSTS QUEUE QUEUE, 14, "queue \"normal\" is defined twice",
         "a queue once"},
        {SITE HOSTS "Begin Queue\nQUEUE_NAME = q\nHOSTS = n9\nEnd Queue\n", 12,
         "unknown host \"n9\"", "a queue's own hosts are known"},
        {CONSUMER "End Site\n" HOSTS QUEUE, 7, "expected a section Queue with",
         "a slurmd is a job of a queue"},
        {CONSUMER
         "End Site\n" HOSTS
         "Begin Queue\nQUEUE_NAME = guests\nHOSTS = all allremote\nEnd Queue\n",
         7, "with such hosts only", "and not on the site's own hosts"},
        {CONSUMER "End Site\n" HOSTS "Begin Queue\nQUEUE_NAME = guests\nEnd Queue\n", 7,
         "QUEUE_NAME = guests and HOSTS = allremote", "which are the default"},
        {"Begin Site\nNAME = n\nSPOOL = /s\nSLURM_BORROW_PARTITION = g\nEnd "
         "Site\n" HOSTS "Begin Queue\nQUEUE_NAME = g\nHOSTS = allremote\nEnd Queue\n",
         4, "expected BROKER", "borrowing needs a broker"},
        {SITE HOSTS QUEUE HEAT "Begin Queue\nQUEUE_NAME = q\nr1m = x/2\nEnd Queue\n",
         25, "\"x\" is not a number, expected loadSched/loadStop",
         "thresholds are numbers"},
        {SITE HOSTS QUEUE HEAT "Begin Queue\nQUEUE_NAME = q\nheat = 5/-1\nEnd Queue\n",
         25, "\"-1\", expected 0 or more", "also of the site's own index"},
        {SITE HOSTS QUEUE HEAT "Begin Queue\nQUEUE_NAME = q\nsize = 5\nEnd Queue\n", 25,
         "size is not a load index", "which changes"},
        {SITE HOSTS QUEUE HEAT "Begin Queue\nQUEUE_NAME = q\nlic = 5\nEnd Queue\n", 25,
         "hosts share its value", "and is a host's own"},
        {SITE HOSTS QUEUE HEAT
         "Begin Queue\nQUEUE_NAME = q\nSTOP_COND = heat >\nEnd Queue\n",
         25, "Error in select section", "conditions are selections"},
        {SITE HOSTS
         "Begin Queue\nQUEUE_NAME = q\nRESRSV_LIMIT = [nosuch=5]\nEnd Queue\n",
         12, "column 2: there is no resource", "ranges are of resources"},
        {SITE HOSTS "Begin Queue\nQUEUE_NAME = q\nRES_REQ = rusage[mem=6]\n"
                    "RESRSV_LIMIT = [mem=5]\nEnd Queue\n",
         12, "column 8: RESRSV_LIMIT of the queue allows mem=up to 5",
         "what the queue reserves is within its range"},
        {SITE HOSTS QUEUE "Begin Limit\nNAME = x\nHOSTS = all\nMEM = 50%\nEnd Limit\n",
         16, "50% is a part of what each host has, expected PER_HOST",
         "LSF ignores such a section"},
        {SITE HOSTS QUEUE
         "Begin Limit\nNAME = x\nPER_HOST = all\nTMP = 101%\nEnd Limit\n",
         16, "\"101%\", expected an amount", "at most all of it"},
        {SITE HOSTS QUEUE "Begin Limit\nNAME = x\nRESOURCE = [lic,2\nEnd Limit\n", 15,
         "expected [NAME,AMOUNT] ...", "brackets close"},
        {SITE HOSTS QUEUE "Begin Limit\nNAME = x\nLICENSE = [nosuch,2]\nEnd Limit\n",
         15, "resource \"nosuch\" is not defined", "what is limited exists"},
        {SITE HOSTS QUEUE
         "Begin Resource\nRESOURCENAME TYPE\nfast Boolean\nEnd Resource\n"
         "Begin Limit\nNAME = x\nRESOURCE = [fast,2]\nEnd Limit\n",
         19, "resource \"fast\" cannot be reserved", "and can be reserved"},
        {SITE HOSTS QUEUE HEAT
         "Begin Limit\nNAME = x\nRESOURCE = [lic,2] [lic,3]\nEnd Limit\n",
         25, "\"lic\" is limited twice", "once in a section"},
        {SITE HOSTS QUEUE "Begin Limit\nNAME = x\nUSERS = ana\nEnd Limit\n", 14,
         "the row limits nothing", "a limit limits"},
        {SITE HOSTS QUEUE "Begin UserGroup\nGROUP_NAME GROUP_MEMBER GROUP_ADMIN\n"
                          "lab (ana) (bob[half])\nEnd UserGroup\n",
         15, "\"bob[half]\", expected a user or group, [full] or [usershares]",
         "rights are known"},
        {SITE QUEUE "Begin Host\nHOST_NAME MXJ ut\nn1 4 90\nEnd Host\n", 10,
         "\"90\", expected 0.0 to 1.0", "hosts have thresholds too"},
        {SITE HOSTS QUEUE
         "Begin HostExport\nPER_HOST = n9\nSLOTS = 1\nDISTRIBUTION = ([s, 1])\nEnd "
         "HostExport\n",
         14, "n9", "exported hosts are known"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_text(&world, rows[i].text);
        const struct conf_diag *diag = world.conf.diags;
        while (diag != NULL && strstr(diag->text, rows[i].says) == NULL) {
            diag = diag->next;
        }
        if (diag == NULL || diag->severity != CONF_ERROR ||
            diag->line != rows[i].line || world.conf.n_errors != 1) {
            diag = diag != NULL ? diag : world.conf.diags;
            fail_msg("%s: %d errors, line %d: %s", rows[i].why, world.conf.n_errors,
                     diag != NULL ? diag->line : 0, diag != NULL ? diag->text : "");
        }
        arena_release(&world.arena);
    }
}

/* "r1m 0.7/2 it -/10" */
static const char *thresholds_text(struct world *world,
                                   const struct load_thresholds *thresholds)
{
    struct resources *resources =
        resource_config_catalogue(&world->setup.config.resource_config);
    const char *text = "";
    for (int i = 0; i < thresholds->n_items; i++) {
        const struct load_threshold *at = &thresholds->items[i];
        text = arena_printf(&world->arena, "%s%s%s ", text, i > 0 ? " " : "",
                            resources_at(resources, at->id)->name);
        for (int k = 0; k < LOAD_THRESHOLD_KINDS; k++) {
            const char *bound =
                at->has[k] ? arena_printf(&world->arena, "%g", at->bounds[k]) : "-";
            text = arena_printf(&world->arena, "%s%s%s", text, k > 0 ? "/" : "", bound);
        }
    }
    resources_free(resources);
    return text;
}

static void test_thresholds(void **state)
{
    struct world world;
    (void)state;
    read_text(&world,
              SITE HEAT "Begin Host\nHOST_NAME MXJ it R1M heat\nn1 4 /10 0.7/2.0 50\n"
                        "n2 2 () () ()\ndefault 3 () 3.5 ()\nEnd Host\n"
                        "Begin Host\nHOSTNAME r1m mem\nn1 9 100\nn3 () ()\nEnd Host\n"
                        "Begin Queue\nQUEUE_NAME = q\nSWAP = 200/30\nHeat = /8\n"
                        "STOP_COND = it < 5\nTERMINATE_WHEN = LOAD\nEnd Queue\n"
                        "Begin Parameters\nSBD_SLEEP_TIME = 7\nEnd Parameters\n");
    const struct site_config *config = &world.setup.config;
    for (const struct conf_diag *diag = world.conf.diags; diag != NULL;
         diag = diag->next) {
        fail_msg("line %d: %s", diag->line, diag->text);
    }
    assert_true(config->has_thresholds);
    assert_int_equal(config->load_interval_ms, 15000); /* as hosts tell */
    const char *expected[] = {"r1m 0.7/2 it -/10 mem 100/- heat 50/-", "", "r1m 3.5/-"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(thresholds_text(&world, &config->hosts[i].thresholds),
                            expected[i]);
    }
    assert_string_equal(thresholds_text(&world, &config->queues[0].thresholds),
                        "swp 200/30 heat -/8");
    assert_string_equal(config->queues[0].stop_cond, "it < 5");
    arena_release(&world.arena);
}

#define POLICY(select)                                                                 \
    "Begin HostExport\nRES_SELECT = " select                                           \
    "\nNHOSTS = 9\nDISTRIBUTION = ([south, 1])\nEnd HostExport\n"
#define RICH                                                                           \
    SITE QUEUE                                                                         \
        "Begin Host\nHOST_NAME MXJ type model RESOURCES\nn1 4 X86 EPYC (big)\n"        \
        "n2 2 X86 - (!gpu)\nn3 8 ARM EPYC (big)\nEnd Host\n"                           \
        "Begin HostModel\nMODELNAME CPUFACTOR\nEPYC 20\nEnd HostModel\n"               \
        "Begin Resource\nRESOURCENAME TYPE INTERVAL DESCRIPTION\nos String () (x)\n"   \
        "gb Numeric () (x)\nbig Boolean () (x)\ngpu Boolean () (x)\n"                  \
        "fast Boolean () (x)\nlic Numeric 30 (x)\nEnd Resource\n"                      \
        "Begin ResourceMap\nRESOURCENAME LOCATION\nos (deb@[n1 n2] rh@[n3])\n"         \
        "gb (5@[n1] 7@[n3])\nEnd ResourceMap\n"

/* "n1 n3", or what is wrong. */
static const char *exported_text(struct world *world)
{
    const struct export_plan *plan = &world->setup.config.exports;
    const char *text = "";
    for (int i = 0; plan->n_leases > 0 && i < plan->leases[0].n_hosts; i++) {
        text = arena_printf(&world->arena, "%s%s%s", text, i > 0 ? " " : "",
                            plan->leases[0].hosts[i].host);
    }
    return world->conf.diags != NULL ? world->conf.diags->text : text;
}

static void test_res_select(void **state)
{
    static const struct {
        const char *text, *expected, *why;
    } rows[] = {
        {RICH POLICY("type==any"), "n1 n3", "n2 is for those that ask for its gpu"},
        {RICH POLICY("gpu"), "n2", "and this one does"},
        {RICH POLICY("big"), "n1 n3", "without a type: of any type"},
        {RICH POLICY("maxslots > 4"), "n3", "nor do numbers alone say local"},
        {RICH POLICY("os == 'deb' && big"), "n1", "values of ResourceMap"},
        {RICH POLICY("gb * 2 > 12 || hname == n1"), "n1 n3", "arithmetic, names"},
        {RICH POLICY("gb < 6 && !gpu"), "n1", "gpu is named, and not had"},
        {RICH POLICY("defined(gb)"), "n1 n3", "defined()"},
        {RICH POLICY("select[big && type == ARM]"), "n3", "with its keyword"},
        {RICH "LSF_STRICT_RESREQ=N\n" POLICY("big:-gpu:gb=6"), "n3", "as of old"},
        {RICH POLICY("big:gpu"),
         "Error in select section: Error near \":\" : syntax error. Column 4:",
         "but only then"},
        {RICH POLICY("type == local"), "Error in select section: Error near \"local\"",
         "an export is no host"},
        {RICH POLICY("big rusage[mem=5]"), "more than a select section",
         "hosts are exported, not jobs started"},
        {RICH POLICY("mem > 5"), "mem is reported by hosts", "loads are not known"},
        {RICH POLICY("lic > 5"), "lic is reported by hosts", "nor elims"},
        {RICH POLICY("model == EPYC"), "model is reported by hosts", "n2 has none"},
        {RICH POLICY("cpuf > 5"), "cpuf is reported by hosts", "and so no factor"},
        {RICH POLICY("fast"), "fast is reported by hosts",
         "RESOURCES names it nowhere"},
        {RICH POLICY("fest"), "Error in select section: Error near \"fest\"", "a slip"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_text(&world, rows[i].text);
        const char *text = exported_text(&world);
        bool is_text = world.conf.diags != NULL;
        bool is_error = is_text && world.setup.config.exports.n_deferred == 0;
        if (strncmp(text, rows[i].expected,
                    is_text ? strlen(rows[i].expected) : strlen(text) + 1) != 0 ||
            world.conf.n_errors != is_error) {
            fail_msg("%s: expected %s, got %s", rows[i].why, rows[i].expected, text);
        }
        arena_release(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_admins),
        cmocka_unit_test(test_reservation_usage_without_method),
        cmocka_unit_test(test_merged_rows),
        cmocka_unit_test(test_counted_slots),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_brokers),
        cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_res_select),
        cmocka_unit_test(test_slurm_borrow),
        cmocka_unit_test(test_lease_user),
        cmocka_unit_test(test_thresholds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
