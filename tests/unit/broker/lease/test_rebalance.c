/* SPDX-License-Identifier: Apache-2.0 */
/* test_rebalance.c: reads tests/data/rebalance.rows, "expected TAB input" lines, and
 * holds the rule to them; then what no row can say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "broker/lease/lease.h"
#include "broker/lease/rebalance.h"

enum { LINE_SIZE = 512, ROW_HOSTS_MAX = 8 };

static const char rows_path[] = "tests/data/rebalance.rows";

struct row_case {
    struct rebalance_snapshot snapshot;
    struct host_split hosts[ROW_HOSTS_MAX];
};

/* "down 4/0 0/0" */
static void read_host(char *text, struct host_split *host)
{
    int down = 0;
    sscanf(text, " down%n", &down);
    host->is_down = down > 0;
    host->host = "n";
    if (sscanf(text + down, " %d/%d %d/%d", &host->provider, &host->provider_used,
               &host->consumer, &host->consumer_used) != 4) {
        fail_msg("no host: \"%s\"", text);
    }
    host->n_slots = host->provider + host->consumer;
}

static void read_condition(const char *word, struct rebalance_snapshot *snapshot)
{
    long long number = 0;
    if (strcmp(word, "demand") == 0) {
        snapshot->policy = RECLAIM_DEMAND;
    } else if (strcmp(word, "away") == 0) {
        snapshot->consumer = REBALANCE_CONSUMER_AWAY;
    } else if (strcmp(word, "gone") == 0) {
        snapshot->consumer = REBALANCE_CONSUMER_GONE;
    } else if (sscanf(word, "provider_waiting=%lld", &number) == 1) {
        snapshot->provider_waiting = (int)number;
    } else if (sscanf(word, "consumer_waiting=%lld", &number) == 1) {
        snapshot->consumer_waiting = (int)number;
    } else if (sscanf(word, "moved_ago=%lld", &number) == 1) {
        snapshot->since_move_ms = number;
    } else if (sscanf(word, "min_hold=%lld", &number) == 1) {
        snapshot->min_hold_ms = number;
    } else {
        fail_msg("no condition: \"%s\"", word);
    }
}

static void read_input(char *text, struct row_case *row)
{
    memset(row, 0, sizeof(*row));
    row->snapshot.hosts = row->hosts;
    row->snapshot.since_move_ms = INT64_MAX;
    char *conditions = strchr(text, ';'), *rest;
    if (conditions != NULL) {
        *conditions++ = '\0';
        for (char *word = strtok_r(conditions, " \n", &rest); word != NULL;
             word = strtok_r(NULL, " \n", &rest)) {
            read_condition(word, &row->snapshot);
        }
    }
    for (char *host = strtok_r(text, "|", &rest); host != NULL;
         host = strtok_r(NULL, "|", &rest)) {
        if (strspn(host, " \n") == strlen(host)) {
            continue;
        }
        assert_in_range(row->snapshot.n_hosts, 0, ROW_HOSTS_MAX - 1);
        read_host(host, &row->hosts[row->snapshot.n_hosts++]);
    }
}

/* The plan as a row's expectation has it. */
static void print_plan(const struct rebalance_plan *plan, char *text, size_t size)
{
    static const char *const names[] = {"none", "provider", "consumer"};
    int length = snprintf(text, size, "%s", names[plan->direction]);
    for (int i = 0; i < plan->n_hosts && plan->direction != REBALANCE_NONE; i++) {
        const struct host_split *host = &plan->hosts[i];
        length += snprintf(text + length, size - (size_t)length, "%s %d/%d %d/%d",
                           i > 0 ? " |" : "", host->provider, host->provider_used,
                           host->consumer, host->consumer_used);
    }
}

static void judge_line(const char *why, int number, char *line)
{
    char *input = strchr(line, '\t'), actual[LINE_SIZE];
    assert_non_null(input);
    *input++ = '\0';
    struct row_case row;
    read_input(input, &row);
    struct arena arena;
    arena_init(&arena);
    struct rebalance_plan plan;
    rebalance_plan(&row.snapshot, &arena, &plan);
    print_plan(&plan, actual, sizeof(actual));
    if (strcmp(actual, line) != 0 || plan.reason[0] == '\0') {
        fail_msg("%s:%d: %s\n  expected %s\n  actual   %s (%s)", rows_path, number, why,
                 line, actual, plan.reason);
    }
    arena_release(&arena);
}

static void every_row_holds(void **state)
{
    FILE *file = fopen(rows_path, "r");
    assert_non_null(file);
    char line[LINE_SIZE], why[LINE_SIZE] = "";
    int n_rows = 0;
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            memcpy(why, line, sizeof(why));
        } else if (line[0] != '\0') {
            judge_line(why, number, line);
            n_rows++;
        }
    }
    fclose(file);
    assert_in_range(n_rows, 30, 1000);
}

/* RECLAIM_POLICY=demand: why nothing moves. */
static void the_reason_says_who_waits(void **state)
{
    static const struct {
        int provider_waiting, consumer_waiting;
        const char *says;
    } rows[] = {{0, 0, "no waiting jobs"},
                {3, 0, "the side with waiting jobs has all idle slots"},
                {0, 3, "the side with waiting jobs has all idle slots"}};
    struct host_split host = {.host = "n", .n_slots = 4, .provider = 2, .consumer = 2};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rebalance_snapshot snapshot = {
            .hosts = &host,
            .n_hosts = 1,
            .policy = RECLAIM_DEMAND,
            .provider_waiting = rows[i].provider_waiting,
            .consumer_waiting = rows[i].consumer_waiting,
            .since_move_ms = INT64_MAX,
        };
        struct rebalance_plan plan;
        struct arena arena;
        arena_init(&arena);
        host.provider_used = rows[i].consumer_waiting > 0 ? 2 : 0;
        host.consumer_used = rows[i].provider_waiting > 0 ? 2 : 0;
        rebalance_plan(&snapshot, &arena, &plan);
        assert_int_equal(plan.direction, REBALANCE_NONE);
        assert_non_null(strstr(plan.reason, rows[i].says));
        arena_release(&arena);
    }
}

static void make_hosts(struct rng *rng, struct host_split *hosts, int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        struct host_split *host = &hosts[i];
        host->host = "n";
        host->n_slots = (int)rng_below(rng, 9);
        host->provider = (int)rng_below(rng, host->n_slots + 1);
        host->consumer = host->n_slots - host->provider;
        host->provider_used = (int)rng_below(rng, host->provider + 1);
        host->consumer_used = (int)rng_below(rng, host->consumer + 1);
        host->is_down = rng_percent(rng, 15);
    }
}

/* Whatever the counts: slots neither appear nor vanish, those in use stay, hosts that
 * are down stay, and the plan says truly how many move. */
static void slots_are_kept(void **state)
{
    struct rng rng;
    rng_init(&rng, 20240601);
    struct arena arena;
    arena_init(&arena);
    for (int round = 0; round < 5000; round++) {
        struct host_split hosts[6];
        struct rebalance_snapshot snapshot = {
            .hosts = hosts,
            .n_hosts = (int)rng_below(&rng, 7),
            .policy = rng_percent(&rng, 50) ? RECLAIM_LSF : RECLAIM_DEMAND,
            .provider_waiting = (int)rng_below(&rng, 3),
            .consumer_waiting = (int)rng_below(&rng, 3),
            .since_move_ms = INT64_MAX,
            .consumer = (enum rebalance_consumer)rng_below(&rng, 3),
        };
        make_hosts(&rng, hosts, snapshot.n_hosts);
        struct rebalance_plan plan;
        rebalance_plan(&snapshot, &arena, &plan);
        assert_int_equal(lease_split_check(plan.hosts, plan.n_hosts, NULL), 0);
        int n_moved = 0;
        for (int i = 0; i < plan.n_hosts; i++) {
            assert_int_equal(plan.hosts[i].n_slots, hosts[i].n_slots);
            assert_int_equal(plan.hosts[i].provider_used, hosts[i].provider_used);
            assert_int_equal(plan.hosts[i].consumer_used, hosts[i].consumer_used);
            if (hosts[i].is_down) {
                assert_int_equal(plan.hosts[i].provider, hosts[i].provider);
            }
            n_moved += abs(plan.hosts[i].provider - hosts[i].provider);
        }
        assert_int_equal(plan.n_moved, n_moved);
        assert_int_equal(n_moved > 0, plan.direction != REBALANCE_NONE);
        arena_clear(&arena);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_holds),
        cmocka_unit_test(the_reason_says_who_waits),
        cmocka_unit_test(slots_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
