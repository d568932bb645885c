/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts requirements match, in one pass after the other. What is carried over
 * from earlier passes must be what a match without any memory finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "site/site_parts.h"
#include "tests/unit/site/site_stage.h"

enum {
    N_HOSTS = 300, /* three blocks of rows, the last one not full */
    N_SUPPLIES = 12,
    N_STEPS = 1500,
    TEXT_SIZE = 16384,
};

/* Requirements read every kind of value. */
static const char *const requirements[] = {
    "select[mem > 500]",
    "select[mem > 400 && swp > 100]",
    "select[swp > mem]",
    "select[type == any]",
    "select[type == B && mem > 300]",
    "select[model == local || mem > 800]",
    "select[defined(fast)]",
    "select[fast && type == any]",
    "select[status == ok]",
    "select[slots > 3 && type == any]",
    "order[mem]",
    "order[-swp:r1m] select[mem > 200]",
    "order[r1m] select[type == any]",
    "span[hosts=1]",
    "span[ptile=2] select[mem > 300]",
    "span[ptile='!',A:2] same[type]",
    "same[type:rack] select[type == any]",
    "rusage[mem=20]",
    "{select[mem > 600]} || {select[swp > 200]}",
    "select[a0 > 1 && a1 > 1 && a2 > 1 && a3 > 1 && a4 > 1 && a5 > 1 && a6 > 1 && "
    "a7 > 1 && a8 > 1 && a9 > 1 && a10 > 1 && a11 > 1]",
};
enum { N_REQUIREMENTS = sizeof(requirements) / sizeof(requirements[0]) };

static const char *site_text(void)
{
    static char text[TEXT_SIZE];
    int at = snprintf(text, sizeof(text),
                      "Begin Site\nNAME = south\nSPOOL = /s\nBROKER = "
                      "tcp://127.0.0.1:1\nKEY = k\nBROKER_KEY = b\nEnd "
                      "Site\nBegin Resource\n"
                      "RESOURCENAME TYPE INTERVAL INCREASING CONSUMABLE DESCRIPTION\n"
                      "fast Boolean () () () (fast)\nrack String () () () (rack)\n");
    for (int i = 0; i < N_SUPPLIES; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       "a%d Numeric 60 N Y (amount)\n", i);
    }
    at += snprintf(
        text + at, sizeof(text) - (size_t)at,
        "End Resource\nBegin Queue\nQUEUE_NAME = local\nHOSTS = all allremote\n"
        "End Queue\n"
        "Begin Host\nHOST_NAME MXJ type\n");
    for (int i = 1; i <= N_HOSTS; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, "s%d 4 !\n", i);
    }
    snprintf(text + at, sizeof(text) - (size_t)at, "End Host\n");
    return text;
}

/* A pass's match over the hosts as they are. */
struct look {
    struct arena arena;
    struct rusage_pass *left;
    struct place_host *hosts;
    int n_hosts;
    struct resreq_match *match;
};

static void look_init(struct look *look, const struct site *site,
                      struct resreq_cache *cache)
{
    arena_init(&look->arena);
    look->hosts =
        capacity_hosts(site->capacity, &look->arena, site->now_ms, &look->n_hosts);
    look->left = rusage_pass_new(&site->rusage_sources, &look->arena, look->hosts,
                                 look->n_hosts, site->now_ms);
    look->match = resreq_match_new(cache, &look->arena, look->hosts, look->n_hosts,
                                   look->left, NULL, site->now_ms);
}

static const struct place_filter *look_up(struct look *look, const char *requirement)
{
    struct job_spec spec = site_stage_spec("local", "work");
    spec.res_reqs = &requirement;
    spec.n_res_reqs = 1;
    return resreq_match_filter(look->match, resreq_match_find(look->match, 0, &spec));
}

static void compare_arrays(const void *a, const void *b, size_t n_bytes)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL) {
        assert_memory_equal(a, b, n_bytes);
    }
}

static void compare_spans(const struct place_span *a, const struct place_span *b,
                          size_t n_hosts)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a == NULL) {
        return;
    }
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->n_slots, b->n_slots);
    assert_int_equal(a->n_same, b->n_same);
    compare_arrays(a->ptiles, b->ptiles, n_hosts * sizeof(int));
    for (int i = 0; i < a->n_same; i++) {
        assert_int_equal(a->n_same_groups[i], b->n_same_groups[i]);
        compare_arrays(a->same[i], b->same[i], n_hosts * sizeof(int));
    }
}

static void compare(const struct place_filter *a, const struct place_filter *b,
                    size_t n_hosts)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a == NULL) {
        return;
    }
    compare_arrays(a->matches, b->matches, n_hosts);
    for (size_t i = 0; a->ranks != NULL && i < n_hosts; i++) {
        assert_true(!a->matches[i] || a->ranks[i] == b->ranks[i]);
    }
    assert_int_equal(a->ranks == NULL, b->ranks == NULL);
    assert_int_equal(a->reserved == NULL, b->reserved == NULL);
    if (a->reserved != NULL) {
        assert_string_equal(a->reserved->resource, b->reserved->resource);
        assert_int_equal(a->reserved->total_milli, b->reserved->total_milli);
        assert_int_equal(a->reserved->reserved_milli, b->reserved->reserved_milli);
        compare_arrays(a->reserved->hosts, b->reserved->hosts, n_hosts);
    }
    compare_spans(a->span, b->span, n_hosts);
}

/* Of some requirements, so that others are older when they are looked at. */
static void check(const struct site *site, struct rng *rng)
{
    struct look kept, fresh;
    struct resreq_cache *cache = resreq_cache_new(site->config, site->host_resources);
    cache->status = &site->host_status;
    look_init(&kept, site, site->resreq_cache);
    look_init(&fresh, site, cache);
    for (int i = 0; i < N_REQUIREMENTS; i++) {
        if (rng_below(rng, 3) > 0) {
            compare(look_up(&kept, requirements[i]), look_up(&fresh, requirements[i]),
                    (size_t)kept.n_hosts);
        }
    }
    arena_release(&kept.arena);
    arena_release(&fresh.arena);
    resreq_cache_free(cache);
}

/* ---------------------------------------------------------------- hosts that change */

static void change_value(struct site *site, struct rng *rng)
{
    static const char *const types[] = {"A", "B", "C"};
    static const int numbers[] = {RESOURCE_MEM, RESOURCE_SWP, RESOURCE_R1M,
                                  RESOURCE_CPUF};
    struct resource_table *table = host_resources_table(site->host_resources);
    const struct resources *resources = host_resources_catalogue(site->host_resources);
    int fast = resources_find(resources, "fast", 4);
    int rack = resources_find(resources, "rack", 4);
    int row = (int)rng_below(rng, N_HOSTS);
    switch (rng_below(rng, 8)) {
    case 0:
        resource_table_set_text(table, row, RESOURCE_TYPE, types[rng_below(rng, 3)]);
        break;
    case 1:
        resource_table_set_text(table, row, rack, types[rng_below(rng, 3)]);
        break;
    case 2:
        resource_table_set_flag(table, row, fast, rng_below(rng, 2) == 0);
        break;
    case 3:
        resource_table_unset(table, row, rng_below(rng, 2) == 0 ? fast : RESOURCE_MEM);
        break;
    case 4:
        if (rng_below(rng, 3) == 0) {
            resource_table_set_exclusive(table, row, fast, rng_below(rng, 2) == 0);
        }
        break;
    case 5: /* the local host decides what local is */
        row = rng_below(rng, 10) == 0 ? 0 : row;
        resource_table_set_text(table, row, RESOURCE_MODEL, types[rng_below(rng, 3)]);
        break;
    default:
        resource_table_set_number(table, row, numbers[rng_below(rng, 4)],
                                  (double)rng_below(rng, 1000));
    }
}

/* The host connects and reports. */
static void come(struct site_stage *stage, int host)
{
    char name[16];
    struct load_value values[N_SUPPLIES + 1];
    struct msg load = {.kind = MSG_HOST_LOAD};
    char names[N_SUPPLIES][8];
    snprintf(name, sizeof(name), "s%d", host);
    site_stage_host_up(stage, name);
    struct peer from = site_stage_host(name);
    values[N_SUPPLIES] = (struct load_value){.name = "mem", .value = "900"};
    for (int i = 0; i < N_SUPPLIES; i++) {
        snprintf(names[i], sizeof(names[i]), "a%d", i);
        values[i] = (struct load_value){.name = names[i], .value = "8"};
    }
    load.host_load =
        (struct msg_host_load){.values = values, .n_values = N_SUPPLIES + 1};
    load.session = stage->host_session;
    load.site = "";
    site_stage_message(stage, &from, &load);
}

/* Runs one of those jobs on some host: values less what it reserves change. */
static uint64_t start_job(struct site_stage *stage)
{
    static const char *const require =
        "rusage[mem=300, "
        "a0=7:a1=7:a2=7:a3=7:a4=7:a5=7:a6=7:a7=7:a8=7:a9=7:a10=7:a11=7]";
    struct job_spec spec = site_stage_spec("local", "work");
    spec.res_reqs = &require;
    spec.n_res_reqs = 1;
    return site_stage_submit_spec(stage, "ana", &spec);
}

static void test_carried_over(void **state)
{
    struct site_stage stage;
    struct rng rng;
    uint64_t job = 0;
    (void)state;
    rng_init(&rng, 7);
    site_stage_init_text(&stage, site_text());
    site_stage_broker_up(&stage);
    for (int i = 1; i <= N_HOSTS; i += 7) {
        come(&stage, i);
    }
    for (int i = 0; i < N_STEPS; i++) {
        if (i % 5 == 0) {
            come(&stage, 1 + (int)rng_below(&rng, N_HOSTS));
        }
        for (int k = (int)rng_below(&rng, 3); k > 0; k--) {
            change_value(stage.site, &rng);
        }
        if (i % 40 == 10) {
            job = start_job(&stage);
            assert_int_not_equal(site_stage_attempt_of(&stage, job), 0);
        } else if (i % 40 == 20) {
            site_stage_control(&stage, "ana", "0", CONTROL_KILL, 9);
        } else if (i % 40 == 35 && i > N_STEPS / 2) { /* of whom nothing is known */
            site_stage_contract(&stage, (uint64_t)i, LEASE_ACTIVE, 1 + i % 3, true);
        }
        check(stage.site, &rng);
    }
    assert_int_not_equal(job, 0);
    site_stage_release(&stage);
}

/* What only a pass knows of hosts is looked at in each of them. */
static void test_slots(void **state)
{
    struct site_stage stage;
    struct look look;
    (void)state;
    site_stage_init_text(&stage, site_text());
    come(&stage, 1);
    for (int i = 0; i < 2; i++) {
        look_init(&look, stage.site, stage.site->resreq_cache);
        const struct place_filter *filter =
            look_up(&look, "select[slots > 3 && type == any]");
        assert_int_equal(filter == NULL || filter->matches[0], i == 0);
        arena_release(&look.arena);
        assert_int_not_equal(start_job(&stage), 0);
    }
    site_stage_release(&stage);
}

/* Without a type, a job's string means hosts of the local type, and one of a load
 * listing hosts of any type. */
static void test_listings(void **state)
{
    struct site_stage stage;
    struct look look;
    const struct place_filter *filter;
    struct err err;
    (void)state;
    site_stage_init_text(&stage, site_text());
    struct resource_table *table = host_resources_table(stage.site->host_resources);
    for (int i = 0; i < N_HOSTS; i++) {
        resource_table_set_text(table, i, RESOURCE_TYPE, i == 1 ? "B" : "A");
        resource_table_set_number(table, i, RESOURCE_MEM, i == 2 ? 5 : 500);
    }
    look_init(&look, stage.site, stage.site->resreq_cache);
    assert_int_equal(
        resreq_match_select(look.match, RESREQ_MATCH_LOAD, "mem > 100", &filter, &err),
        0);
    assert_true(filter->matches[0] && filter->matches[1] && !filter->matches[2]);
    assert_non_null(filter->ranks); /* by load, as no order is named */
    assert_int_equal(
        resreq_match_select(look.match, RESREQ_MATCH_HOSTS, "mem > 100", &filter, &err),
        0);
    assert_true(filter->matches[0] && !filter->matches[1] && !filter->matches[2]);
    assert_null(filter->ranks);
    arena_release(&look.arena);
    site_stage_release(&stage);
}

static bool is_listed(struct look *look, enum resreq_match_listing listing,
                      const char *requirement, int host)
{
    const struct place_filter *filter;
    struct err err;
    assert_int_equal(
        resreq_match_select(look->match, listing, requirement, &filter, &err), 0);
    return filter == NULL || filter->matches[host];
}

/* A load listing selects by what hosts report, and another one, as a job does, by what
 * running jobs have not reserved: 600 of 900 MB. */
static void test_listings_and_reservations(void **state)
{
    struct site_stage stage;
    struct look look;
    (void)state;
    site_stage_init_text(&stage, site_text());
    come(&stage, 1);
    assert_int_not_equal(site_stage_attempt_of(&stage, start_job(&stage)), 0);
    look_init(&look, stage.site, stage.site->resreq_cache);
    assert_true(is_listed(&look, RESREQ_MATCH_LOAD, "mem > 800", 0));
    assert_false(is_listed(&look, RESREQ_MATCH_LOAD, "mem > 900", 0));
    assert_false(is_listed(&look, RESREQ_MATCH_HOSTS, "mem > 800", 0));
    assert_true(is_listed(&look, RESREQ_MATCH_HOSTS, "mem > 500", 0));
    arena_release(&look.arena);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_carried_over), cmocka_unit_test(test_slots),
        cmocka_unit_test(test_listings),
        cmocka_unit_test(test_listings_and_reservations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
