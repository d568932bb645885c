/* SPDX-License-Identifier: Apache-2.0 */
/* Which number the account of a user of another site has, and when it may go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/run/lease_accounts.h"

enum { DAY_MS = 24 * 3600 * 1000, FIRST = 2000, LAST = 2002 };

struct world {
    struct lease_accounts *accounts;
    struct effects effects;
    int64_t now_ms;
    const char *busy; /* "ana@south bob@east": have runs on record */
    bool is_host_away;
};

static int set_up(void **state)
{
    static struct world world;
    world = (struct world){.now_ms = 1000, .busy = ""};
    world.accounts = lease_accounts_new((struct uid_range){FIRST, LAST});
    effects_init(&world.effects);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    lease_accounts_free(world->accounts);
    effects_release(&world->effects);
    return 0;
}

static bool is_used(void *arg, const char *site, const char *user)
{
    const struct world *world = arg;
    char name[64];
    if (user == NULL) {
        return world->is_host_away;
    }
    snprintf(name, sizeof(name), "%s@%s", user, site);
    return strstr(world->busy, name) != NULL;
}

static int64_t take(struct world *world, const char *site, const char *user)
{
    bool has =
        lease_accounts_has(world->accounts, site, user, is_used, world, world->now_ms);
    effects_clear(&world->effects);
    int64_t uid = lease_accounts_take(world->accounts, site, user, is_used, world,
                                      world->now_ms, &world->effects);
    assert_int_equal(has, uid != 0);
    return uid;
}

/* The rows that the latest take stored: "2000 ana@south, gone 2001 bob@east". */
static const char *stored(struct world *world)
{
    static char text[256];
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < world->effects.count; i++) {
        const struct effect *effect = &world->effects.items[i];
        if (effect->kind == EFFECT_STORE) {
            const struct row_lease_account *row = &effect->row.lease_account;
            length +=
                (size_t)snprintf(text + length, sizeof(text) - length, "%s%s%lld %s@%s",
                                 length > 0 ? ", " : "", row->is_gone ? "gone " : "",
                                 (long long)row->uid, row->user, row->site);
        }
    }
    return text;
}

static void test_each_pair_has_one(void **state)
{
    struct world *world = *state;
    assert_int_equal(take(world, "south", "ana"), 2000);
    assert_string_equal(stored(world), "2000 ana@south");
    assert_int_equal(take(world, "south", "bob"), 2001);
    assert_int_equal(take(world, "east", "ana"), 2002);
    assert_int_equal(take(world, "south", "ana"), 2000);
    assert_string_equal(stored(world), "");
}

static void test_journal(void **state)
{
    struct world *world = *state;
    lease_accounts_load(world->accounts,
                        &(struct row_lease_account){"south", "bob", 2001, false});
    lease_accounts_load(world->accounts,
                        &(struct row_lease_account){"south", "eva", 2000, false});
    assert_int_equal(take(world, "south", "ana"), 2002);
    assert_int_equal(take(world, "south", "bob"), 2001);
}

/* Only if nothing of a pair can be left, and then that of the longest unused. */
static void test_reuse(void **state)
{
    struct world *world = *state;
    take(world, "south", "ana");
    take(world, "south", "bob");
    take(world, "south", "eva");
    assert_int_equal(take(world, "south", "new"), 0);
    world->now_ms += DAY_MS - 1;
    lease_accounts_touch(world->accounts, "south", "ana", world->now_ms);
    assert_int_equal(take(world, "south", "new"), 0);
    world->now_ms += 1; /* a day after the others */
    world->is_host_away = true;
    assert_int_equal(take(world, "south", "new"), 0);
    world->is_host_away = false;
    world->busy = "bob@south";
    assert_int_equal(take(world, "south", "new"), 2002);
    assert_string_equal(stored(world), "gone 2002 eva@south, 2002 new@south");
    assert_int_equal(take(world, "south", "eva"), 0);
    world->busy = "";
    assert_int_equal(take(world, "south", "eva"), 2001);
}

/* After a restart nothing is known of the time before: a day passes first. */
static void test_reuse_after_a_restart(void **state)
{
    struct world *world = *state;
    static const char *const users[] = {"ana", "bob", "eva"};
    for (int i = 0; i < 3; i++) {
        struct row_lease_account row = {"south", users[i], FIRST + i, false};
        lease_accounts_load(world->accounts, &row);
    }
    assert_int_equal(take(world, "south", "new"), 0);
    world->now_ms += DAY_MS;
    assert_int_equal(take(world, "south", "new"), 2000);
}

/* A pair outside of the range goes on with its number while it has runs. */
static void test_other_range(void **state)
{
    struct world *world = *state;
    take(world, "south", "ana");
    lease_accounts_set_range(world->accounts, (struct uid_range){3000, 3000});
    world->busy = "ana@south";
    assert_int_equal(take(world, "south", "ana"), 2000);
    assert_string_equal(stored(world), "");
    world->busy = "";
    assert_int_equal(take(world, "south", "ana"), 3000);
    assert_string_equal(stored(world), "3000 ana@south");
    assert_int_equal(take(world, "south", "bob"), 0);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_each_pair_has_one), STORY(test_journal), STORY(test_reuse),
        STORY(test_reuse_after_a_restart), STORY(test_other_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
