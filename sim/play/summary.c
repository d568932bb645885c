/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c: sums over time of levels, and samples of waits, by site. */
#include "sim/play/summary.h"

#include <math.h>
#include <stdlib.h>

enum {
    SHORT_RUN_MS = 10000
}; /* for bounded slowdown: runs count as at least this long */

struct samples {
    double *items;
    int count, capacity;
};

struct site_sums {
    struct summary_level level;
    int64_t since_ms; /* begin of the present level */
    double slots_ms, used_ms, lent_ms, borrowed_ms;
    struct samples waits, slowdowns;
    int64_t n_done, n_preempted, n_recalled;
};

struct summary {
    const char *const *names;
    struct site_sums *sites;
    int n_sites;
};

struct summary *summary_new(const char *const *sites, int n_sites)
{
    struct summary *summary = mem_alloc(1, sizeof *summary);

    summary->names = sites;
    summary->n_sites = n_sites;
    summary->sites = mem_alloc((size_t)n_sites + 1, sizeof summary->sites[0]);
    return summary;
}

void summary_free(struct summary *summary)
{
    if (!summary) {
        return;
    }
    for (int i = 0; i < summary->n_sites; i++) {
        free(summary->sites[i].waits.items);
        free(summary->sites[i].slowdowns.items);
    }
    free(summary->sites);
    free(summary);
}

/* ---- while the simulation runs */

static void add_time(struct site_sums *site, int64_t now_ms)
{
    double past_ms = (double)(now_ms - site->since_ms);

    site->slots_ms += past_ms * site->level.n_slots;
    site->used_ms += past_ms * site->level.n_used;
    site->lent_ms += past_ms * site->level.n_lent;
    site->borrowed_ms += past_ms * site->level.n_borrowed;
    site->since_ms = now_ms;
}

void summary_level(struct summary *summary, int site, const struct summary_level *level,
                   int64_t now_ms)
{
    add_time(&summary->sites[site], now_ms);
    summary->sites[site].level = *level;
}

static void add_sample(struct samples *samples, double sample)
{
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? 2 * samples->capacity : 64;
        samples->items = mem_grow(samples->items, (size_t)samples->capacity,
                                  sizeof samples->items[0]);
    }
    samples->items[samples->count++] = sample;
}

void summary_ended(struct summary *summary, int site, bool is_done, int64_t wait_ms,
                   int64_t run_ms)
{
    struct site_sums *sums = &summary->sites[site];
    int64_t bounded_ms = run_ms > SHORT_RUN_MS ? run_ms : SHORT_RUN_MS;
    double slowdown = (double)(wait_ms + run_ms) / (double)bounded_ms;

    sums->n_done += is_done;
    add_sample(&sums->waits, (double)wait_ms / 1000);
    add_sample(&sums->slowdowns, slowdown > 1 ? slowdown : 1);
}

void summary_preempted(struct summary *summary, int site)
{
    summary->sites[site].n_preempted++;
}

void summary_recalled(struct summary *summary, int site)
{
    summary->sites[site].n_recalled++;
}

void summary_finish(struct summary *summary, int64_t until_ms)
{
    for (int i = 0; i < summary->n_sites; i++) {
        add_time(&summary->sites[i], until_ms);
    }
}

/* ---- the result */

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* Rounds to three decimals, so that the result does not depend on the compiler. */
static void add_rounded(struct arena *arena, struct value *to, const char *key,
                        double number)
{
    value_add_real(arena, to, key, round(number * 1000) / 1000);
}

static void add_samples(struct arena *arena, struct value *to, const char *mean_key,
                        const char *p95_key, const struct samples *samples)
{
    size_t count = (size_t)samples->count;
    double sum = 0;

    if (samples->count == 0) {
        value_add_null(arena, to, mean_key);
        value_add_null(arena, to, p95_key);
        return;
    }
    double *sorted = arena_copy(arena, samples->items, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], compare);
    for (size_t i = 0; i < count; i++) {
        sum += sorted[i];
    }
    /* nearest rank: the 95th percentile */
    int rank = (samples->count * 19 + 19) / 20;
    add_rounded(arena, to, mean_key, sum / samples->count);
    add_rounded(arena, to, p95_key, sorted[rank - 1]);
}

static void show_site(struct arena *arena, struct value *to,
                      const struct site_sums *site)
{
    const double hour_ms = 3600000;

    value_add_int(arena, to, "jobs_done", site->n_done);
    add_samples(arena, to, "wait_mean_s", "wait_p95_s", &site->waits);
    add_samples(arena, to, "slowdown_mean", "slowdown_p95", &site->slowdowns);
    if (site->slots_ms > 0) {
        add_rounded(arena, to, "utilisation", site->used_ms / site->slots_ms);
    } else {
        value_add_null(arena, to, "utilisation");
    }
    add_rounded(arena, to, "lent_slot_h", site->lent_ms / hour_ms);
    add_rounded(arena, to, "borrowed_slot_h", site->borrowed_ms / hour_ms);
    value_add_int(arena, to, "preemptions", site->n_preempted);
    value_add_int(arena, to, "recalls", site->n_recalled);
}

struct value *summary_show(const struct summary *summary, struct arena *arena,
                           uint64_t seed, int64_t until_ms)
{
    struct value *root = value_object(arena);

    value_add_int(arena, root, "schema_version", 1);
    value_add_int(arena, root, "seed", (int64_t)seed);
    value_add_duration(arena, root, "until_s", until_ms);
    struct value *sites = value_add(arena, root, "sites", value_object(arena));
    for (int i = 0; i < summary->n_sites; i++) {
        struct value *site =
            value_add(arena, sites, summary->names[i], value_object(arena));
        show_site(arena, site, &summary->sites[i]);
    }
    return root;
}
