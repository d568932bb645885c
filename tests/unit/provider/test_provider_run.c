/* SPDX-License-Identifier: Apache-2.0 */
/* test_provider_run.c: START in the order of rule 7, and what becomes of what was
 * taken: across ends, acknowledgements and crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/provider/provider_world.h"

#define LEASE "north/spare/south"
#define ASSERT_BOOK(expected)                                                          \
    assert_string_equal(provider_world_book(world, LEASE), expected)

static int set_up(void **state)
{
    struct provider_world *world = provider_world_new(4);
    provider_world_export(world, "spare south shared n1=4 n2=2");
    provider_world_session(world, 7);
    provider_world_propose(world, LEASE, 1, "n1 1:3 n2 1:1");
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    provider_world_free(*state);
    return 0;
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        const char *consumer, *lease;
        uint64_t epoch;
        const char *hosts;
        const char *reason; /* "": taken */
    } rows[] = {
        {"a free slot", "south", LEASE, 2, "n1=1", ""},
        {"all free slots of a host", "south", LEASE, 2, "n1=3", ""},
        {"slots of several hosts", "south", LEASE, 2, "n2=1 n1=3", ""},
        {"one slot too many", "south", LEASE, 2, "n1=4", "no free slot on host n1"},
        {"one too many on one of them", "south", LEASE, 2, "n1=1 n2=2",
         "no free slot on host n2"},
        {"an old epoch", "south", LEASE, 1, "n1=1",
         "stale epoch: the contract is at 2, not 1"},
        {"an epoch to come", "south", LEASE, 3, "n1=1",
         "stale epoch: the contract is at 2, not 3"},
        {"somebody else's lease", "east", LEASE, 2, "n1=1",
         "lease " LEASE " is not east's"},
        {"no such lease", "south", "north/x/south", 2, "n1=1",
         "lease north/x/south is unknown here"},
        {"a host of the site, not of the lease", "south", LEASE, 2, "n3=1",
         "unknown host: n3 is not of lease " LEASE},
        {"no such host", "south", LEASE, 2, "n9=1",
         "unknown host: n9 is not of lease " LEASE},
        {"a host twice, to get around the count", "south", LEASE, 2, "n1=2 n1=2",
         "the number of slots on host n1 is not valid"},
        {"no slot", "south", LEASE, 2, "n1=0",
         "the number of slots on host n1 is not valid"},
        {"less than that", "south", LEASE, 2, "n1=-1",
         "the number of slots on host n1 is not valid"},
        {"no host", "south", LEASE, 2, "", "no host is requested"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        set_up(&made);
        struct provider_world *world = made;
        provider_set_local_used(world->provider, "n3", 4, 0);
        enum provider_verdict verdict = provider_world_start(
            world, rows[i].consumer, 1, rows[i].lease, rows[i].epoch, rows[i].hosts);
        bool is_taken = rows[i].reason[0] == '\0';
        if (verdict != (is_taken ? PROVIDER_ADMITTED : PROVIDER_REFUSED) ||
            strcmp(world->reason, rows[i].reason) != 0) {
            fail_msg("%s: got %d \"%s\"", rows[i].why, (int)verdict, world->reason);
        }
        /* Either way it is decided, and on record. */
        assert_int_equal(world->effects.items[0].kind, EFFECT_STORE);
        assert_int_equal(world->effects.items[0].row.kind, ROW_HIGH);
        assert_int_equal(world->effects.items[0].row.high.attempt, 1);
        struct run_id run = {.site = rows[i].consumer, .attempt = 1};
        assert_int_equal(provider_run_unknown_state(world->provider, &run),
                         ATTEMPT_LOST);
        tear_down(&made);
    }
}

/* By the policy as it is now; a batch job runs either way. */
static void test_interactive(void **state)
{
    struct provider_world *world = *state;
    world->interaction = INTERACTION_PTY;
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason,
                        "lease " LEASE
                        " does not accept interactive jobs (INTERACTIVE)");
    world->plan.leases[0].terms.takes_interactive = true;
    provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n1=1"),
                     PROVIDER_ADMITTED);
    world->plan.leases[0].terms.takes_interactive = false;
    provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
    assert_int_equal(provider_world_start(world, "south", 3, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    world->interaction = INTERACTION_NONE;
    assert_int_equal(provider_world_start(world, "south", 4, LEASE, 2, "n1=1"),
                     PROVIDER_ADMITTED);
}

/* With a UserMap, a user without a row does not run; whether the lease has a slot
 * is not told them before. */
static void test_users(void **state)
{
    static const struct {
        const char *why;
        struct user_map_row row;
        bool is_taken;
    } rows[] = {
        {"everybody of the site", {"guest", "all", "south"}, true},
        {"another site's users", {"guest", "all", "east"}, false},
        {"another user", {"guest", "bob", "south"}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        struct user_map map = {.is_set = true, .rows = &rows[i].row, .n_rows = 1};
        set_up(&made);
        struct provider_world *world = made;
        provider_set_users(world->provider, &map);
        enum provider_verdict verdict =
            provider_world_start(world, "south", 1, LEASE, 2, "n1=1");
        if (verdict != (rows[i].is_taken ? PROVIDER_ADMITTED : PROVIDER_REFUSED) ||
            (!rows[i].is_taken && strstr(world->reason, "has no account at") == NULL)) {
            fail_msg("%s: %d \"%s\"", rows[i].why, (int)verdict, world->reason);
        }
        tear_down(&made);
    }
}

static void test_exclusive(void **state)
{
    struct provider_world *world = *state;
    world->wants_own_hosts = true;
    provider_set_local_used(world->provider, "n1", 4, 1);
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason,
                        "other jobs run on host n1, and the job is exclusive");
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n2=1"),
                     PROVIDER_ADMITTED);
    ASSERT_BOOK("2 made: n1 1/1 3/0; n2 1/0 1/1 down");
    /* Nothing beside it, of whomever, until the site says that it is gone. */
    provider_set_local_used(world->provider, "n1", 4, 0);
    world->wants_own_hosts = false;
    provider_world_propose(world, LEASE, 2, "n1 1:3 n2 0:2");
    assert_int_equal(provider_world_start(world, "south", 3, LEASE, 2, "n2=1"),
                     PROVIDER_REFUSED);
    assert_int_equal(provider_world_start(world, "south", 4, LEASE, 3, "n2=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason, "an exclusive job runs on host n2");
    provider_set_used_exclusively(world->provider, "n2", false);
    assert_int_equal(provider_world_start(world, "south", 5, LEASE, 3, "n2=1"),
                     PROVIDER_ADMITTED);
    world->wants_own_hosts = true;
    assert_int_equal(provider_world_start(world, "south", 6, LEASE, 3, "n2=1"),
                     PROVIDER_REFUSED);
}

static void test_frozen(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 2, 1);
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_non_null(strstr(world->reason, "frozen"));
    provider_world_tick(world, WORLD_FREEZE_MS);
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n1=1"),
                     PROVIDER_ADMITTED);
}

static void test_down(void **state)
{
    struct provider_world *world = *state;
    provider_set_down(world->provider, "n1", true);
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason, "host n1 is down or closed");
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n2=1"),
                     PROVIDER_ADMITTED);
    ASSERT_BOOK("2 made: n1 1/0 3/0 down; n2 1/0 1/1");
    provider_set_down(world->provider, "n1", false);
    assert_int_equal(provider_world_start(world, "south", 3, LEASE, 2, "n1=1"),
                     PROVIDER_ADMITTED);
}

/* Nothing starts on it, but its slots are no loss to anybody. */
static void test_awaited(void **state)
{
    struct provider_world *world = *state;
    provider_set_awaited(world->provider, "n1", true);
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason, "host n1 has not connected yet");
    ASSERT_BOOK("2: n1 1/0 3/0; n2 1/0 1/0");
    provider_set_awaited(world->provider, "n1", false);
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n1=1"),
                     PROVIDER_ADMITTED);
}

static void test_withdrawn(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 1, LEASE, 2, "n1=1");
    provider_world_export(world, "");
    ASSERT_BOOK("3 made withdrawn: n1 0/0 1/1");
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 3, "n1=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason, "lease " LEASE " is withdrawn");
}

static void test_slots_are_counted(void **state)
{
    struct provider_world *world = *state;
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=2"),
                     PROVIDER_ADMITTED);
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n1=2"),
                     PROVIDER_REFUSED);
    ASSERT_BOOK("2 made: n1 1/0 3/2; n2 1/0 1/0");
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("2 made: n1 1/0 3/0; n2 1/0 1/0");
    assert_int_equal(provider_world_start(world, "south", 3, LEASE, 2, "n1=3"),
                     PROVIDER_ADMITTED);
}

/* While a job is suspended and has yielded its slots, another may use them. It resumes
 * when they are free again. */
static void test_resume_needs_the_yielded_slots(void **state)
{
    struct provider_world *world = *state;
    struct run_id first = {.site = "south", .attempt = 1},
                  unknown = {.site = "south", .attempt = 9};
    provider_world_start(world, "south", 1, LEASE, 2, "n1=2");
    assert_true(provider_run_may_resume(world->provider, &first));
    provider_run_set_yielded(world->provider, &first, true, world->now_ms,
                             &world->effects);
    assert_true(provider_run_may_resume(world->provider, &first));
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n1=2"),
                     PROVIDER_ADMITTED);
    assert_false(provider_run_may_resume(world->provider, &first));
    assert_true(provider_run_may_resume(world->provider, &unknown));
    provider_world_end(world, "south", 2);
    assert_true(provider_run_may_resume(world->provider, &first));
}

/* The host has shrunk while the job was suspended, and the contract does not say so
 * yet. A job that is alone on its host resumes even if the host is too small for it. */
static void test_resume_needs_room_on_the_host(void **state)
{
    struct provider_world *world = *state;
    struct run_id first = {.site = "south", .attempt = 1};
    provider_world_start(world, "south", 1, LEASE, 2, "n1=2");
    provider_run_set_yielded(world->provider, &first, true, world->now_ms,
                             &world->effects);
    provider_world_start(world, "south", 2, LEASE, 2, "n1=1");
    assert_true(provider_run_may_resume(world->provider, &first));
    provider_set_local_used(world->provider, "n1", 3, 0);
    assert_true(provider_run_may_resume(world->provider, &first));
    provider_set_local_used(world->provider, "n1", 2, 0);
    assert_false(provider_run_may_resume(world->provider, &first));
    provider_world_end(world, "south", 2);
    provider_set_local_used(world->provider, "n1", 1, 0);
    assert_true(provider_run_may_resume(world->provider, &first));
}

/* The lease is made by its first job: under the same epoch, and the broker hears of it
 * before anybody hears of the job. */
static void test_first_start_makes_the_lease(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 1, LEASE, 2, "n1=1");
    const struct msg_state *told = provider_world_state(world, LEASE);
    assert_non_null(told);
    assert_true(told->is_made);
    assert_int_equal(told->epoch, 2);
    assert_string_equal(provider_world_disk(world, LEASE),
                        "2 made: n1 1/0 3/0; n2 1/0 1/0");
    provider_world_start(world, "south", 2, LEASE, 2, "n1=1");
    assert_null(provider_world_state(world, LEASE));
}

static void test_repeated_start_is_known(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 1, LEASE, 2, "n1=1");
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_KNOWN);
    assert_int_equal(world->effects.count, 0);
    /* Also when meanwhile the contract has changed, and the job has ended. */
    provider_world_propose(world, LEASE, 2, "n1 3:1 n2 1:1");
    provider_world_end(world, "south", 1);
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_KNOWN);
    ASSERT_BOOK("3 made: n1 3/0 1/0; n2 1/0 1/0");
}

static void test_forgotten_attempt_never_begins_again(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 1, LEASE, 2, "n1=1");
    provider_world_end(world, "south", 1);
    provider_world_forget(world, "south", 1);
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_int_equal(world->effects.count, 0);
    ASSERT_BOOK("2 made: n1 1/0 3/0; n2 1/0 1/0");
}

static void test_overtaken_attempt_is_refused(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 5, LEASE, 2, "n1=1");
    assert_int_equal(provider_world_start(world, "south", 4, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    /* each consumer has its own numbers */
    struct run_id east = {.site = "east", .attempt = 4},
                  south = {.site = "south", .attempt = 4},
                  later = {.site = "south", .attempt = 6};
    assert_int_equal(provider_run_unknown_state(world->provider, &east),
                     ATTEMPT_ABSENT);
    assert_int_equal(provider_run_unknown_state(world->provider, &south), ATTEMPT_LOST);
    assert_int_equal(provider_run_unknown_state(world->provider, &later),
                     ATTEMPT_ABSENT);
}

static void test_refused_stays_refused_after_a_crash(void **state)
{
    struct provider_world *world = *state;
    assert_int_equal(provider_world_start(world, "south", 9, LEASE, 1, "n1=1"),
                     PROVIDER_REFUSED);
    provider_world_restart(world);
    /* Under the right epoch by now, but the answer has been given. */
    assert_int_equal(provider_world_start(world, "south", 9, LEASE, 2, "n1=1"),
                     PROVIDER_REFUSED);
    assert_string_equal(world->reason, "attempt was decided before");
}

static void test_taken_is_found_again_after_a_crash(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 1, LEASE, 2, "n1=2 n2=1");
    provider_world_start(world, "south", 2, LEASE, 2, "n1=1");
    provider_world_end(world, "south", 2);
    provider_world_restart(world);
    ASSERT_BOOK("2 made: n1 1/0 3/2; n2 1/0 1/1");
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 2, "n1=2 n2=1"),
                     PROVIDER_KNOWN);
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 2, "n1=1"),
                     PROVIDER_KNOWN);
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("2 made: n1 1/0 3/0; n2 1/0 1/0");
}

static void test_end_twice_frees_once(void **state)
{
    struct provider_world *world = *state;
    provider_world_start(world, "south", 1, LEASE, 2, "n1=1");
    provider_world_start(world, "south", 2, LEASE, 2, "n1=1");
    provider_world_end(world, "south", 1);
    provider_world_end(world, "south", 1);
    provider_world_forget(world, "south", 1);
    provider_world_forget(world, "south", 1);
    ASSERT_BOOK("2 made: n1 1/0 3/1; n2 1/0 1/0");
}

/* ------------------------------------------------------------ when STATE goes out */

static void test_state_on_change_and_at_intervals(void **state)
{
    struct provider_world *world = *state;
    provider_world_tick(world, 200);
    assert_int_equal(provider_world_told(world, LEASE), 0);
    provider_set_local_used(world->provider, "n1", 4, 1);
    provider_world_tick(world, 0);
    assert_int_equal(provider_world_told(world, LEASE), 1);
    provider_set_local_used(world->provider, "n1", 4, 0);
    provider_world_tick(world, 0); /* the next one too, in the same instant */
    assert_int_equal(provider_world_told(world, LEASE), 1);
    assert_int_equal(provider_wake_ms(world->provider), world->now_ms + 5000);
    provider_world_tick(world, 4999);
    assert_int_equal(provider_world_told(world, LEASE), 0);
    provider_world_tick(world, 1);
    assert_int_equal(provider_world_told(world, LEASE), 1);
}

/* A thousand idle leases are no news, each five seconds again. */
static void test_what_does_not_change_is_told_ever_less_often(void **state)
{
    struct provider_world *world = *state;
    static const int64_t pauses_ms[] = {5000, 10000, 20000, 40000, 60000, 60000};
    provider_set_local_used(world->provider, "n1", 4, 1);
    provider_world_tick(world, 200);
    for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
        assert_int_equal(provider_wake_ms(world->provider),
                         world->now_ms + pauses_ms[i]);
        provider_world_tick(world, pauses_ms[i]);
        assert_int_equal(provider_world_told(world, LEASE), 1);
    }
    provider_set_local_used(world->provider, "n1", 4, 0);
    provider_world_tick(world, 200);
    assert_int_equal(provider_world_told(world, LEASE), 1);
    assert_int_equal(provider_wake_ms(world->provider), world->now_ms + 5000);
}

static void test_masses_of_changes_are_paced(void **state)
{
    struct provider_world *world = *state;
    int told = 0;
    provider_world_tick(world, 10000);
    provider_world_told(world, LEASE);
    for (int i = 0; i < 1000; i++) { /* a change a millisecond, for a second */
        provider_set_local_used(world->provider, "n1", 4, i % 2);
        provider_world_tick(world, 1);
        told += provider_world_told(world, LEASE);
    }
    assert_in_range(told, 28, 32); /* twenty at once, then ten a second */
    provider_set_local_used(world->provider, "n1", 4, 2);
    provider_world_tick(world, 1);
    assert_int_equal(provider_world_told(world, LEASE), 0);
    provider_world_tick(world, 200); /* the last one is not lost */
    assert_int_equal(provider_world_told(world, LEASE), 1);
}

static void test_waiting_jobs_and_down_hosts_are_told(void **state)
{
    struct provider_world *world = *state;
    provider_set_waiting(world->provider, 3);
    provider_world_tick(world, 100);
    assert_int_equal(provider_world_state(world, LEASE)->provider_waiting, 3);
    provider_set_waiting(world->provider, 3);
    provider_world_tick(world, 100);
    assert_int_equal(provider_world_told(world, LEASE), 0);
    provider_set_down(world->provider, "n2", true);
    provider_world_tick(world, 100);
    assert_true(provider_world_state(world, LEASE)->hosts[1].is_down);
}

static void test_nothing_is_sent_without_a_session(void **state)
{
    struct provider_world *world = *state;
    provider_world_restart(world);
    provider_world_tick(world, 60000);
    provider_world_freeze(world, LEASE, 2, 1);
    assert_int_equal(provider_world_told(world, LEASE), 0);
    provider_world_session(world, 8);
    assert_int_equal(provider_world_told(world, LEASE), 1);
    assert_int_equal(provider_count_leases(world->provider), 1);
    assert_string_equal(provider_lease_id(world->provider, 0), LEASE);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_users),
        STORY(test_exclusive),
        STORY(test_interactive),
        STORY(test_frozen),
        STORY(test_down),
        STORY(test_awaited),
        STORY(test_withdrawn),
        STORY(test_slots_are_counted),
        STORY(test_resume_needs_the_yielded_slots),
        STORY(test_resume_needs_room_on_the_host),
        STORY(test_first_start_makes_the_lease),
        STORY(test_repeated_start_is_known),
        STORY(test_forgotten_attempt_never_begins_again),
        STORY(test_overtaken_attempt_is_refused),
        STORY(test_refused_stays_refused_after_a_crash),
        STORY(test_taken_is_found_again_after_a_crash),
        STORY(test_end_twice_frees_once),
        STORY(test_state_on_change_and_at_intervals),
        STORY(test_what_does_not_change_is_told_ever_less_often),
        STORY(test_masses_of_changes_are_paced),
        STORY(test_waiting_jobs_and_down_hosts_are_told),
        STORY(test_nothing_is_sent_without_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
