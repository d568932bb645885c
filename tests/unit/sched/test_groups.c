/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and lists of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sched/queue/groups.h"

static const char *const own_hosts[] = {"n3", "n1", "n2"};

struct world {
    struct arena arena;
    struct conf conf;
    struct groups groups;
};

static void read_groups(struct world *world, const char *text)
{
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.users", text, strlen(text));
    groups_read(&world->conf, own_hosts, 3, &world->groups);
}

static const char users_text[] = "Begin UserGroup\n"
                                 "GROUP_NAME GROUP_MEMBER\n"
                                 "both  (lab cy)\n"
                                 "lab   (bo ana ana)\n"
                                 "most  (all ~lab)\n"
                                 "some  (lab ~bo)\n"
                                 "wide  (most bo)\n"
                                 "End UserGroup\n";

static void test_users(void **state)
{
    static const struct {
        const char *why, *group, *in, *out;
    } rows[] = {
        {"its members", "lab", "ana", "cy"},
        {"a group in a group, and before its own row", "both", "bo", "dan"},
        {"and its other members", "both", "cy", "dan"},
        {"all but a group", "most", "cy", "ana"},
        {"a group but one", "some", "ana", "bo"},
        {"all but some, and one of those", "wide", "bo", "ana"},
    };
    struct world world;
    (void)state;
    read_groups(&world, users_text);
    assert_int_equal(world.conf.n_errors, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct name_group *group =
            groups_find_users(&world.groups, rows[i].group);
        if (group == NULL || !groups_has(&group->members, rows[i].in) ||
            groups_has(&group->members, rows[i].out)) {
            fail_msg("%s", rows[i].why);
        }
    }
    assert_int_equal(groups_find_users(&world.groups, "lab")->members.n_names, 2);
    assert_null(groups_find_users(&world.groups, "nobody"));
    arena_release(&world.arena);
}

static void test_hosts(void **state)
{
    struct world world;
    (void)state;
    read_groups(&world, "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\n"
                        "big (n1 n3 b1@north)\nEnd HostGroup\n");
    const struct name_group *big = groups_find_hosts(&world.groups, "big");
    assert_int_equal(world.conf.n_errors, 0);
    assert_true(groups_has(&big->members, "n3"));
    assert_true(groups_has(&big->members, "b1@north"));
    assert_false(groups_has(&big->members, "n2"));
    arena_release(&world.arena);
}

static void test_units(void **state)
{
    struct world world;
    (void)state;
    read_groups(&world, "Begin ComputeUnit\nNAME MEMBER TYPE\n"
                        "rack1 (encl1 encl2) rack\nencl1 (n1 pair) enclosure\n"
                        "encl2 (n3) enclosure\nEnd ComputeUnit\n"
                        "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\n"
                        "pair (n1 n2)\nEnd HostGroup\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.groups.n_hosts, 4);
    const struct name_group *rack = groups_find_hosts(&world.groups, "rack1");
    assert_string_equal(rack->type, "rack");
    assert_true(groups_has(&rack->members, "n2"));
    assert_true(groups_has(&rack->members, "n3"));
    assert_null(groups_find_hosts(&world.groups, "pair")->type);
    arena_release(&world.arena);
}

/* The first condensed group in the order of the file, host groups before units. */
static void test_condensed(void **state)
{
    static const struct {
        const char *why, *host, *group;
    } rows[] = {
        {"the first of two condensed groups", "n1", "late"},
        {"a group that is not condensed does not count", "n2", "rack"},
        {"a borrowed host that is named", "b1@north", "late"},
        {"a borrowed host is not of `all`", "b2@north", NULL},
        {"an own host is of `all`", "n3", "own"},
    };
    struct world world;
    (void)state;
    read_groups(&world, "Begin ComputeUnit\nNAME MEMBER TYPE CONDENSE\n"
                        "rack (n1 n2) rack y\nEnd ComputeUnit\n"
                        "Begin HostGroup\nGROUP_NAME GROUP_MEMBER CONDENSE\n"
                        "plain (n1 n2) N\nlate (n1 b1@north) Y\nsome (n1 n3) -\n"
                        "own (all ~n2) Y\nEnd HostGroup\n");
    assert_int_equal(world.conf.n_errors, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct name_group *group = groups_condensed(&world.groups, rows[i].host);
        const char *name = group != NULL ? group->name : "none";
        if (strcmp(name, rows[i].group != NULL ? rows[i].group : "none") != 0) {
            fail_msg("%s: %s is of %s", rows[i].why, rows[i].host, name);
        }
    }
    arena_release(&world.arena);
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"Begin UserGroup\nGROUP_NAME GROUP_MEMBER\na (b)\nb (a)\nEnd UserGroup\n",
         "is a member of itself"},
        {"Begin UserGroup\nGROUP_NAME GROUP_MEMBER\na (a)\nEnd UserGroup\n",
         "is a member of itself"},
        {"Begin UserGroup\nGROUP_NAME GROUP_MEMBER\na (b)\na (c)\nEnd UserGroup\n",
         "twice"},
        {"Begin UserGroup\nGROUP_NAME GROUP_MEMBER\na ()\nEnd UserGroup\n",
         "without members"},
        {"Begin HostGroup\nGROUP_NAME GROUP_MEMBER\nbig (n1 n9)\nEnd HostGroup\n",
         "unknown host \"n9\""},
        {"Begin ComputeUnit\nNAME MEMBER TYPE\nbig (n9) rack\nEnd ComputeUnit\n",
         "unknown host \"n9\""},
        {"Begin ComputeUnit\nNAME TYPE\nbig rack\nEnd ComputeUnit\n",
         "without members, expected MEMBER"},
        {"Begin HostGroup\nGROUP_NAME GROUP_MEMBER\nbig (n1)\nEnd HostGroup\n"
         "Begin ComputeUnit\nNAME MEMBER TYPE\nbig (n2) rack\nEnd ComputeUnit\n",
         "group \"big\" appears twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_groups(&world, rows[i].text);
        if (world.conf.n_errors != 1 ||
            strstr(world.conf.diags->text, rows[i].says) == NULL) {
            fail_msg("%d errors, expected \"%s\"", world.conf.n_errors, rows[i].says);
        }
        arena_release(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_users), cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_units), cmocka_unit_test(test_condensed),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
