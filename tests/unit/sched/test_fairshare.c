/* SPDX-License-Identifier: Apache-2.0 */
/* Fairshare and slot pools as configured: errors, warnings, and which user has which
 * shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/fairshare/fairshare.h"

static const char *const own_hosts[] = {"n1", "n2"};

struct world {
    struct arena arena;
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
    struct fairshare shares;
    struct slot_pools pools;
};

static const char groups_text[] =
    "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
    "lab (ana bo cy) ([ana, 2] [bo, 1])\n"
    "chem (dan eve) ()\n"
    "both (lab chem) ([lab, 3] [chem, 1])\n"
    "rest (all ~lab) ()\nEnd UserGroup\n";

static void read_text(struct world *world, const char *text)
{
    *world = (struct world){0};
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.users", groups_text, strlen(groups_text));
    conf_read(&world->conf, "lsb.queues", text, strlen(text));
    conf_check(&world->conf);
    groups_read(&world->conf, own_hosts, 2, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
    fairshare_load(&world->conf, &world->groups, world->queues, world->n_queues,
                   &world->shares);
    slot_pool_config_read(&world->conf, &world->groups, world->queues, world->n_queues,
                          &world->shares, &world->pools);
}

#define QUEUE(name, keys) "Begin Queue\nQUEUE_NAME = " name "\n" keys "End Queue\n"
#define SHARES "FAIRSHARE = USER_SHARES[[ana, 1]]\n"
#define POOL "SLOT_POOL = A\nSLOT_SHARE = 50\n"

static const struct {
    const char *why, *text;
    const char *error, *warning; /* what they say, each once; NULL: none */
} rows[] = {
    {"as in the manual",
     QUEUE("q", "FAIRSHARE = USER_SHARES[[ana, 10] [chem, 9] [others, 8]]\n"), NULL,
     NULL},
    {"blanks", QUEUE("q", "FAIRSHARE=USER_SHARES [ [ana,10]  [default , 4] ]\n"), NULL,
     NULL},
    {"a group of groups with shares",
     QUEUE("q", "FAIRSHARE = USER_SHARES[[both, 1]]\n"), NULL, NULL},
    {"no shares", QUEUE("q", "FAIRSHARE = USER_SHARES[]\n"), "no share in it", NULL},
    {"no word", QUEUE("q", "FAIRSHARE = [ana, 1]\n"), "expected USER_SHARES[[USER",
     NULL},
    {"no brackets", QUEUE("q", "FAIRSHARE = USER_SHARES[ana, 1]\n"),
     "expected [USER, NUMBER]", NULL},
    {"a share of nothing", QUEUE("q", "FAIRSHARE = USER_SHARES[[ana, 0]]\n"),
     "a number from 1", NULL},
    {"no number", QUEUE("q", "FAIRSHARE = USER_SHARES[[ana, x]]\n"), "a number from 1",
     NULL},
    {"twice", QUEUE("q", "FAIRSHARE = USER_SHARES[[ana, 1] [ana, 2]]\n"), "twice",
     NULL},
    {"each of no group", QUEUE("q", "FAIRSHARE = USER_SHARES[[ana@, 1]]\n"),
     "\"ana@\": no such group", NULL},
    {"each of all but some", QUEUE("q", "FAIRSHARE = USER_SHARES[[rest@, 1]]\n"),
     "a group of all but some", NULL},
    {"a group whose shares name a stranger",
     "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
     "odd (ana) ([bo, 1])\nEnd UserGroup\n" QUEUE("q", ""),
     "\"bo\" is not of the group", NULL},
    {"groups in themselves",
     "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
     "odd (ana) ([odd, 1])\nEnd UserGroup\n" QUEUE(
         "q", "FAIRSHARE = USER_SHARES[[odd, 1]]\n"),
     "one in itself", NULL},
    {"groups in one another in more ways than there is memory for",
     "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
     "a (ana) ([a, 1] [b, 1] [c, 1] [d, 1])\nb (ana) ([a, 1] [b, 1] [c, 1] [d, 1])\n"
     "c (ana) ([a, 1] [b, 1] [c, 1] [d, 1])\nd (ana) ([a, 1] [b, 1] [c, 1] [d, 1])\n"
     "End UserGroup\n" QUEUE("q", "FAIRSHARE = USER_SHARES[[a, 1]]\n"),
     "more than 100000 shares below it", NULL},
    {"a factor", QUEUE("q", SHARES "RUN_TIME_FACTOR = 0.5\nHIST_HOURS = 0\n"), NULL,
     NULL},
    {"no factor", QUEUE("q", SHARES "RUN_TIME_FACTOR = -1\n"),
     "\"-1\" is not a factor, expected a number from 0", NULL},
    {"a committed factor above 1", QUEUE("q", SHARES "COMMITTED_RUN_TIME_FACTOR = 2\n"),
     "from 0 to 1", NULL},
    {"a bad factor for all is told once",
     "Begin Parameters\nCPU_TIME_FACTOR = much\nEnd Parameters\n" QUEUE("q", SHARES)
         QUEUE("r", SHARES),
     "\"much\" is not a factor", NULL},
    {"a set",
     QUEUE("q", SHARES "FAIRSHARE_QUEUES = r s\n") QUEUE("r", "") QUEUE("s", ""), NULL,
     NULL},
    {"a set without shares", QUEUE("q", "FAIRSHARE_QUEUES = r\n") QUEUE("r", ""),
     "there are no shares, expected FAIRSHARE in the same section", NULL},
    {"a set of strangers", QUEUE("q", SHARES "FAIRSHARE_QUEUES = r\n"),
     "unknown queue \"r\"", NULL},
    {"two sets",
     QUEUE("q", SHARES "FAIRSHARE_QUEUES = s\n")
         QUEUE("r", SHARES "FAIRSHARE_QUEUES = s\n") QUEUE("s", ""),
     "in one set only", NULL},
    {"a queue of a set with shares of its own",
     QUEUE("q", SHARES "FAIRSHARE_QUEUES = r\n") QUEUE("r", SHARES),
     "in FAIRSHARE_QUEUES of queue \"q\"", NULL},
    {"a set of queues with different hosts",
     QUEUE("q", SHARES "FAIRSHARE_QUEUES = r\n") QUEUE("r", "HOSTS = n1\n"),
     "other HOSTS than \"q\"", NULL},
    {"a queue between those of the set",
     QUEUE("q", SHARES "FAIRSHARE_QUEUES = r\nPRIORITY = 10\n")
         QUEUE("r", "PRIORITY = 30\n") QUEUE("s", "PRIORITY = 20\n"),
     NULL, "queue \"s\" is not in the set"},
    {"an order without a set", QUEUE("q", SHARES "DISPATCH_ORDER = QUEUE\n"), NULL,
     "without FAIRSHARE_QUEUES"},
    {"a partition",
     QUEUE("q", "") "Begin HostPartition\nHPART_NAME = p\nHOSTS = all\n"
                    "USER_SHARES = ([ana, 1] [default, 1])\nEnd HostPartition\n",
     NULL, NULL},
    {"a partition and fairshare of queues",
     QUEUE("q", SHARES) "Begin HostPartition\nHPART_NAME = p\nHOSTS = all\n"
                        "USER_SHARES = ([ana, 1])\nEnd HostPartition\n",
     "fairshare of its own", NULL},
    {"a queue on more than a partition",
     QUEUE("q", "") "Begin HostPartition\nHPART_NAME = p\nHOSTS = n1\n"
                    "USER_SHARES = ([ana, 1])\nEnd HostPartition\n",
     "uses hosts of the partition and others", NULL},
    {"a host in two partitions",
     QUEUE("q", "HOSTS = n1\n") "Begin HostPartition\nHPART_NAME HOSTS USER_SHARES\n"
                                "p (n1) ([ana, 1])\np2 (n1) ([ana, 1])\n"
                                "End HostPartition\n",
     "host \"n1\" is in a partition already", NULL},
    {"a partition of nothing",
     QUEUE("q", "") "Begin HostPartition\nHPART_NAME = p\nHOSTS = n1\n"
                    "End HostPartition\n",
     "a partition without hosts or shares", NULL},

    {"a pool", QUEUE("q", POOL) QUEUE("r", POOL), NULL, NULL},
    {"shares that do not sum to 100 are fine",
     QUEUE("q", "SLOT_POOL = A\nSLOT_SHARE = 30\n") QUEUE("r", POOL), NULL, NULL},
    {"user fairshare in a pool is fine", QUEUE("q", POOL SHARES) QUEUE("r", POOL), NULL,
     NULL},
    {"a share of no pool", QUEUE("q", "SLOT_SHARE = 5\n"), NULL, "without SLOT_POOL"},
    {"a pool without a share", QUEUE("q", "SLOT_POOL = A\n"),
     "no share of the slot pool", NULL},
    {"a share of 0", QUEUE("q", "SLOT_POOL = A\nSLOT_SHARE = 0\n"), "expected 1 to 100",
     NULL},
    {"a share above 100", QUEUE("q", "SLOT_POOL = A\nSLOT_SHARE = 101\n"),
     "expected 1 to 100", NULL},
    {"two pools", QUEUE("q", "SLOT_POOL = A B\nSLOT_SHARE = 5\n"),
     "in one slot pool at most", NULL},
    {"a name with a blank's like", QUEUE("q", "SLOT_POOL = A/B\nSLOT_SHARE = 5\n"),
     "not the name of a slot pool", NULL},
    {"different hosts in a pool", QUEUE("q", POOL) QUEUE("r", POOL "HOSTS = n1\n"),
     "has other HOSTS", NULL},
    {"the same hosts in other words",
     QUEUE("q", POOL "HOSTS = n1 n2 allremote\n")
         QUEUE("r", POOL "HOSTS = allremote+1 all\n"),
     NULL, NULL},
    {"different borrowed hosts",
     QUEUE("q", POOL "HOSTS = all\n") QUEUE("r", POOL "HOSTS = all allremote\n"),
     "has other HOSTS", NULL},
    {"cross-queue fairshare in a pool",
     QUEUE("q", POOL SHARES "FAIRSHARE_QUEUES = s\n") QUEUE("s", ""), NULL,
     "queues of FAIRSHARE_QUEUES should not be in a slot pool: the order of users "
     "across queues can override the shares of the pool"},
    {"a pool in a partition",
     QUEUE("q", POOL) "Begin HostPartition\nHPART_NAME = p\nHOSTS = all\n"
                      "USER_SHARES = ([ana, 1])\nEnd HostPartition\n",
     "its hosts are in host partition \"p\"", NULL},
    {"another queue preempts one of a pool",
     QUEUE("q", POOL) QUEUE("r", "PREEMPTION = PREEMPTIVE[s+1 q+2]\n") QUEUE("s", ""),
     "queue \"q\" is in slot pool \"A\"", NULL},
    {"another queue is preempted by any",
     QUEUE("q", POOL) QUEUE("r", "PREEMPTION = PREEMPTABLE[q]\n"), NULL, NULL},
    {"the pool's keys in its first queue by priority",
     QUEUE("q", POOL "PRIORITY = 1\n")
         QUEUE("r", POOL "PRIORITY = 2\nMAX_SLOTS_IN_POOL = 5\n"),
     NULL, NULL},
    {"elsewhere they say nothing",
     QUEUE("q", POOL "PRIORITY = 2\n")
         QUEUE("r", POOL "PRIORITY = 1\nUSE_PRIORITY_IN_POOL = Y\n"),
     NULL, "first queue, \"q\", only"},
};

/* Exactly the diagnostics of that kind: all say `text`. */
static void judge(const struct world *world, enum conf_severity severity,
                  const char *text, const char *why)
{
    int count = 0;
    for (const struct conf_diag *diag = world->conf.diags; diag != NULL;
         diag = diag->next) {
        if (diag->severity != severity) {
            continue;
        }
        count++;
        if (text == NULL || strstr(diag->text, text) == NULL) {
            fail_msg("%s: %s: %s", why, diag->key != NULL ? diag->key : "", diag->text);
        }
    }
    if (count != (text != NULL)) {
        fail_msg("%s: %d times \"%s\"", why, count, text != NULL ? text : "");
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_text(&world, rows[i].text);
        judge(&world, CONF_ERROR, rows[i].error, rows[i].why);
        judge(&world, CONF_WARNING, rows[i].warning, rows[i].why);
        arena_release(&world.arena);
    }
}

/* Whose share it is, as a fraction of its siblings' and of theirs up to the root. */
static double part_of(struct fairshare_tree *tree, const char *user)
{
    double part = 1;
    int at = fairshare_tree_join(tree, user, "");
    at = fairshare_tree_at(tree, at)->sharing_account;
    for (; fairshare_tree_at(tree, at)->parent >= 0;
         at = fairshare_tree_at(tree, at)->parent) {
        const struct fairshare_account *account = fairshare_tree_at(tree, at);
        int64_t sum = 0;
        for (int i = 0; i < fairshare_tree_count(tree); i++) {
            sum += fairshare_tree_at(tree, i)->parent == account->parent
                       ? fairshare_tree_at(tree, i)->shares
                       : 0;
        }
        part *= (double)account->shares / (double)sum;
    }
    return part;
}

/* F1 to F6 of docs/design/scheduling.md "Fairshare": the part of a user when so many
 * users have jobs. */
static void test_parts(void **state)
{
    static const struct {
        const char *why, *shares;
        int n_users; /* u1, u2, ... have jobs, besides those listed */
        const char *user;
        double part;
    } cases[] = {
        {"F1: a user, and all of a group", "[u1, 1] [chem, 1]", 0, "u1", 1.0 / 2},
        {"F1: numbers do not matter", "[u1, 600] [chem, 600]", 0, "dan", 1.0 / 2},
        {"F2: a third user alone has the others' shares",
         "[u1, 10] [u2, 9] [others, 8]", 3, "u3", 8.0 / 27},
        {"F3: ten compete for them", "[u1, 10] [u2, 9] [others, 8]", 12, "u12",
         8.0 / 27},
        {"F3: what is another's does not change", "[u1, 10] [u2, 9] [others, 8]", 12,
         "u1", 10.0 / 27},
        {"F4: 20 shares", "[u1, 10] [u2, 6] [default, 4]", 3, "u1", 1.0 / 2},
        {"F5: 56 shares", "[u1, 10] [u2, 6] [default, 4]", 12, "u1", 10.0 / 56},
        {"F5: each of the others", "[u1, 10] [u2, 6] [default, 4]", 12, "u7", 4.0 / 56},
        {"F6: groups", "[lab, 3] [chem, 1] [u1, 4]", 0, "dan", 1.0 / 8},
        {"F6: groups", "[lab, 3] [chem, 1] [u1, 4]", 0, "u1", 4.0 / 8},
        {"a share tree", "[lab, 3] [chem, 1]", 0, "ana", 3.0 / 4 * 2 / 3},
        {"a tree of groups", "[both, 1] [u1, 1]", 0, "bo", 1.0 / 2 * 3 / 4 * 1 / 3},
        {"each of a group", "[chem@, 2] [u1, 1]", 0, "eve", 2.0 / 5},
        {"a line of one's own comes before a group's", "[chem@, 2] [dan, 4]", 0, "dan",
         4.0 / 6},
        {"of several groups the first", "[chem, 1] [both, 3]", 0, "dan", 1.0 / 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        char text[256], user[16];
        snprintf(text, sizeof(text), QUEUE("q", "FAIRSHARE = USER_SHARES[%s]\n"),
                 cases[i].shares);
        read_text(&world, text);
        assert_int_equal(world.conf.n_errors, 0);
        struct fairshare_tree *tree = fairshare_tree_new(&world.shares.scopes[0]);
        for (int k = 1; k <= cases[i].n_users; k++) {
            snprintf(user, sizeof(user), "u%d", k);
            fairshare_tree_join(tree, user, "");
        }
        fairshare_tree_join(tree, cases[i].user, "");
        double part = part_of(tree, cases[i].user);
        if (part < cases[i].part - 1e-9 || part > cases[i].part + 1e-9) {
            fail_msg("%s: %f, expected %f", cases[i].why, part, cases[i].part);
        }
        fairshare_tree_free(tree);
        arena_release(&world.arena);
    }
}

/* Accounts of a user by -G: their places in the tree, and which are the same. */
static void test_groups_of_a_user(void **state)
{
    static const struct {
        const char *why, *shares, *user, *group;
        const char *path; /* of the account: names from the top */
        const char *seat;
    } cases[] = {
        {"without -G a user's own line is first", "[chem, 1] [dan, 4]", "dan", "",
         "dan", "dan"},
        {"with it the group's", "[chem, 1] [dan, 4]", "dan", "chem", "chem dan",
         "chem/dan"},
        {"where he stands anyway", "[chem, 1] [u1, 4]", "dan", "chem", "chem dan",
         "dan"},
        {"not the first of several", "[chem, 1] [both, 3]", "dan", "both",
         "both chem dan", "both/dan"},
        {"a group below a group", "[chem@, 1] [both, 3]", "dan", "chem", "dan", "dan"},
        {"of a line for each member", "[both, 3] [chem@, 2]", "dan", "chem",
         "both chem dan", "dan"},
        {"one that has no share: his own", "[chem, 1]", "dan", "lab", "chem dan",
         "dan"},
        {"one he is not in: his own", "[lab, 1] [default, 1]", "dan", "lab", "dan",
         "dan"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        char text[256], path[64] = "";
        snprintf(text, sizeof(text), QUEUE("q", "FAIRSHARE = USER_SHARES[%s]\n"),
                 cases[i].shares);
        read_text(&world, text);
        assert_int_equal(world.conf.n_errors, 0);
        struct fairshare_tree *tree = fairshare_tree_new(&world.shares.scopes[0]);
        int account = fairshare_tree_join(tree, cases[i].user, cases[i].group);
        const struct fairshare_account *at = fairshare_tree_at(tree, account);
        for (int up = account; fairshare_tree_at(tree, up)->parent >= 0;
             up = fairshare_tree_at(tree, up)->parent) {
            char tail[64];
            snprintf(tail, sizeof(tail), "%s%s%s", fairshare_tree_at(tree, up)->name,
                     path[0] != '\0' ? " " : "", path);
            memcpy(path, tail, sizeof(path));
        }
        if (strcmp(path, cases[i].path) != 0 || strcmp(at->path, cases[i].seat) != 0 ||
            strcmp(at->name, cases[i].user) != 0) {
            fail_msg("%s: \"%s\", seat \"%s\"", cases[i].why, path, at->path);
        }
        assert_int_equal(fairshare_tree_join(tree, cases[i].user, cases[i].group),
                         account);
        assert_int_equal(fairshare_tree_join_path(tree, cases[i].seat), account);
        bool is_own = fairshare_tree_join(tree, cases[i].user, "") == account;
        assert_int_equal(is_own, strchr(cases[i].seat, '/') == NULL);
        fairshare_tree_free(tree);
        arena_release(&world.arena);
    }
}

static void test_who_may_submit(void **state)
{
    struct world world;
    (void)state;
    read_text(&world, QUEUE("q", "FAIRSHARE = USER_SHARES[[lab, 1] [dan, 2]]\n")
                          QUEUE("r", "FAIRSHARE = USER_SHARES[[others, 1]]\n"));
    const struct fairshare_scope *scopes = world.shares.scopes;
    assert_true(fairshare_has_share(&scopes[0], "ana", ""));
    assert_true(fairshare_has_share(&scopes[0], "dan", ""));
    assert_false(
        fairshare_has_share(&scopes[0], "cy", "")); /* of lab, but not in its shares */
    assert_false(fairshare_has_share(&scopes[0], "root", ""));
    assert_true(fairshare_has_share(&scopes[1], "root", ""));
    assert_true(fairshare_has_share(&scopes[0], "ana", "lab"));
    assert_false(fairshare_has_share(&scopes[0], "dan", "chem"));
    assert_false(fairshare_has_share(&scopes[1], "dan", "chem"));
    arena_release(&world.arena);
}

static void test_pools(void **state)
{
    struct world world;
    (void)state;
    read_text(&world,
              QUEUE("low", "SLOT_POOL = A\nSLOT_SHARE = 20\nPRIORITY = 5\n")
                  QUEUE("out", "") QUEUE("high", "SLOT_POOL = A\nSLOT_SHARE = 50\n"
                                                 "PRIORITY = 9\nMAX_SLOTS_IN_POOL = 7\n"
                                                 "USE_PRIORITY_IN_POOL = Y\n"
                                                 "HIST_HOURS = 2.5\n"));
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.pools.n_pools, 1);
    const struct slot_pool *pool = &world.pools.pools[0];
    assert_string_equal(pool->name, "A");
    assert_int_equal(pool->n_queues, 2);
    assert_int_equal(pool->queues[0], 2); /* by priority */
    assert_int_equal(pool->max_slots, 7);
    assert_true(pool->is_by_priority);
    assert_true(pool->hist_hours > 2.49 && pool->hist_hours < 2.51);
    assert_int_equal(world.pools.pool_of[1], -1);
    assert_int_equal(world.pools.shares[0], 20);
    arena_release(&world.arena);
}

static void test_factors(void **state)
{
    struct world world;
    (void)state;
    read_text(&world, "Begin Parameters\nRUN_JOB_FACTOR = 4\nHIST_HOURS = 12\n"
                      "ENABLE_HIST_RUN_TIME = Y\nEnd Parameters\n"
                      "LSB_NCPU_ENFORCE = 1\n" QUEUE(
                          "q", SHARES "HIST_HOURS = 6\nENABLE_HIST_RUN_TIME = N\n")
                          QUEUE("r", SHARES));
    const struct fairshare_factors *q = &world.shares.scopes[0].factors;
    const struct fairshare_factors *r = &world.shares.scopes[1].factors;
    assert_int_equal(world.conf.n_errors, 0);
    assert_true(q->run_job == 4 && q->hist_hours == 6 && !q->has_history);
    assert_true(r->run_job == 4 && r->hist_hours == 12 && r->has_history);
    assert_true(q->is_per_slot && q->cpu_time == 0.7 && q->committed == 0);
    arena_release(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_groups_of_a_user),
        cmocka_unit_test(test_who_may_submit),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
