/* SPDX-License-Identifier: Apache-2.0 */
/* reducer.c: tries changes, the largest first, until none is possible:
 *
 *   1 what comes after the fault, while the random numbers up to it stay the same; then
 *     statements of the scenario, in halves, quarters, ... single lines (ddmin)
 *   2 a whole site: its file, its line, and the lines that name it
 *   3 a whole section of a configuration
 *   4 a single line of a configuration: a key, a host
 *   5 a word of a statement ("rerun=yes"), and numbers: half of them, or one
 *
 * A job that can never run is stuck in any federation. Reducing a federation that is
 * stuck for another reason could end with such a job. So if the original needs its
 * faults to be stuck, each candidate must settle without faults. If the original is
 * stuck without faults as well, the configurations are not changed.
 *
 * Each change is made to a copy, which is played and used if it has the same fault.
 * Texts that cannot be read are no candidates, so this file needs to know little about
 * the syntax. */
#include "tests/sim/reducer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/edits.h"

enum {
    /* Seeds of a smaller scenario, where chance plays a part: as many as half a second
     * has time for. */
    SEEDS_LEAST = 4,
    SEEDS_MOST = 40,
    SEEDS_MS = 500,
};

struct reducer {
    struct texts *texts; /* the smallest up to now */
    struct reducer_result *result;
    struct trial fault;
    int64_t end_ms;
    bool has_chance;
    bool is_stuck;     /* the fault: it never settles */
    bool needs_faults; /* without the scenario's faults it settles */
};

/* ---- trying */

static int64_t monotonic_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_late(const struct reducer *reducer)
{
    return monotonic_ms() >= reducer->end_ms;
}

static bool is_well_without_faults(const struct texts *texts, uint64_t seed)
{
    struct texts calm;
    struct trial trial;

    texts_copy(texts, &calm);
    edits_drop_faults(&calm);
    trial_run_apart(&calm, seed, &trial);
    texts_release(&calm);
    return trial.end == TRIAL_WELL;
}

static bool fails(struct reducer *reducer, const struct texts *texts)
{
    int64_t begin_ms = monotonic_ms();

    if (reducer->is_stuck && !edits_is_restored(texts)) {
        return false;
    }
    for (int i = 0; i < SEEDS_MOST; i++) {
        uint64_t seed = i == 0 ? reducer->result->seed : (uint64_t)i;
        struct trial trial;

        if (i > 0 && (!reducer->has_chance ||
                      (i >= SEEDS_LEAST && monotonic_ms() > begin_ms + SEEDS_MS))) {
            return false;
        }
        reducer->result->n_trials++;
        trial_run_apart(texts, seed, &trial);
        if (trial.end == TRIAL_UNREADABLE) {
            return false;
        }
        if (trial_is_same_fault(&trial, &reducer->fault) &&
            (!reducer->needs_faults || is_well_without_faults(texts, seed))) {
            reducer->result->seed = seed;
            reducer->result->trial = trial;
            return true;
        }
    }
    return false;
}

/* Uses the candidate if it has the same fault; frees it otherwise. */
static bool keep_if_fails(struct reducer *reducer, struct texts *candidate)
{
    bool is_smaller = !texts_is_same(candidate, reducer->texts) && !is_late(reducer) &&
                      fails(reducer, candidate);

    if (is_smaller) {
        texts_release(reducer->texts);
        *reducer->texts = *candidate;
    } else {
        texts_release(candidate);
    }
    return is_smaller;
}

static bool drop_lines(struct reducer *reducer, const char *name,
                       const struct edits_lines *lines, int first, int last)
{
    struct texts candidate;

    texts_copy(reducer->texts, &candidate);
    edits_drop(&candidate, name, lines, first, last);
    return keep_if_fails(reducer, &candidate);
}

/* ---- the changes; each returns whether it removed anything */

/* "seed 5 at 17432 ms: ..." */
static void end_at_fault(struct reducer *reducer)
{
    const char *at = strstr(reducer->result->trial.text, " at ");
    struct texts candidate;

    if (reducer->fault.end == TRIAL_VIOLATED && at) {
        texts_copy(reducer->texts, &candidate);
        edits_end_at(&candidate, strtol(at + strlen(" at "), NULL, 10) / 1000 + 1);
        (void)keep_if_fails(reducer, &candidate);
    }
}

/* Removes ever smaller runs of lines, from the end, since later lines depend on earlier
 * ones. */
static bool drop_runs(struct reducer *reducer, const char *name)
{
    struct edits_lines lines;
    bool is_smaller = false;

    edits_split(texts_find(reducer->texts, name), &lines);
    for (int run = (lines.count + 1) / 2; run > 0 && !is_late(reducer); run /= 2) {
        for (int last = lines.count - 1; last >= 0 && !is_late(reducer); last -= run) {
            int first = last - run + 1 > 0 ? last - run + 1 : 0;
            if (drop_lines(reducer, name, &lines, first, last)) {
                is_smaller = true;
                edits_split(texts_find(reducer->texts, name), &lines);
            }
        }
    }
    return is_smaller;
}

static bool drop_sections(struct reducer *reducer, const char *name)
{
    struct edits_lines lines;
    bool is_smaller = false;

    edits_split(texts_find(reducer->texts, name), &lines);
    for (int last = lines.count - 1; last >= 0; last--) {
        int first = last;
        if (!edits_begins_with(lines.at[last], "End")) {
            continue;
        }
        while (first > 0 && !edits_begins_with(lines.at[first], "Begin")) {
            first--;
        }
        if (drop_lines(reducer, name, &lines, first, last)) {
            is_smaller = true;
            edits_split(texts_find(reducer->texts, name), &lines);
            last = first;
        }
    }
    return is_smaller;
}

static bool drop_sites(struct reducer *reducer)
{
    bool is_smaller = false;

    for (int i = reducer->texts->count - 1; i >= 0; i--) {
        char site[TEXT_NAME_SIZE];
        struct texts candidate;

        snprintf(site, sizeof site, "%s", reducer->texts->items[i].name);
        if (!strstr(site, ".conf")) {
            continue;
        }
        *strstr(site, ".conf") = '\0';
        texts_copy(reducer->texts, &candidate);
        edits_drop_site(&candidate, site);
        is_smaller |= keep_if_fails(reducer, &candidate);
    }
    return is_smaller;
}

static bool replace(struct reducer *reducer, const char *name, size_t at, size_t length,
                    const char *by)
{
    struct texts candidate;

    texts_copy(reducer->texts, &candidate);
    edits_replace(&candidate, name, at, length, by);
    return keep_if_fails(reducer, &candidate);
}

/* " rerun=yes", with the blank before it. */
static bool drop_words(struct reducer *reducer, const char *name)
{
    bool is_smaller = false;
    size_t from = strlen(texts_find(reducer->texts, name));

    while (from > 0 && !is_late(reducer)) {
        const char *body = texts_find(reducer->texts, name), *at = body + --from;
        size_t length = 1 + strcspn(at + 1, " \n");

        if (*at == ' ' && memchr(at, '=', length) && length > 2) {
            is_smaller |= replace(reducer, name, from, length, "");
        }
    }
    return is_smaller;
}

static bool shrink_numbers(struct reducer *reducer, const char *name)
{
    bool is_smaller = false;
    size_t from = strlen(texts_find(reducer->texts, name));

    while (from > 0 && !is_late(reducer)) {
        const char *body = texts_find(reducer->texts, name), *at = body + --from;
        size_t length = strspn(at, "0123456789");
        long number = strtol(at, NULL, 10);
        char half[32];

        /* a whole number, not the end of a name or of another number */
        if (number < 2 ||
            (from > 0 && (isalnum((unsigned char)at[-1]) || strchr("._/-", at[-1])))) {
            continue;
        }
        snprintf(half, sizeof half, "%ld", number / 2);
        if (replace(reducer, name, from, length, "1")) {
            is_smaller = true;
        } else if (number > 3 && replace(reducer, name, from, length, half)) {
            is_smaller = true;
            from++; /* once more */
        }
    }
    return is_smaller;
}

static bool change_configurations(struct reducer *reducer,
                                  bool change(struct reducer *, const char *))
{
    bool is_smaller = false;

    for (int i = 0; i < reducer->texts->count; i++) {
        char name[TEXT_NAME_SIZE];
        snprintf(name, sizeof name, "%s", reducer->texts->items[i].name);
        if (strcmp(name, TEXTS_SCENARIO) != 0) {
            is_smaller |= change(reducer, name);
        }
    }
    return is_smaller;
}

/* Loss, repetition, delay and crashes are random. */
static bool has_chance(const struct texts *texts)
{
    static const char *const words[] = {" loss ", " repeat ", " reorder ", " crashes "};
    const char *body = texts_find(texts, TEXTS_SCENARIO);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(body, words[i])) {
            return true;
        }
    }
    return false;
}

void reducer_reduce(struct texts *texts, uint64_t seed, const struct trial *trial,
                    int limit_s, struct reducer_result *result)
{
    struct reducer reducer = {.texts = texts,
                              .result = result,
                              .fault = *trial,
                              .end_ms = monotonic_ms() + limit_s * INT64_C(1000)};
    bool is_smaller = true;

    *result = (struct reducer_result){.seed = seed, .trial = *trial};
    reducer.is_stuck = trial->end == TRIAL_STUCK;
    reducer.needs_faults = reducer.is_stuck && is_well_without_faults(texts, seed);
    while (is_smaller && !is_late(&reducer)) {
        reducer.has_chance = has_chance(texts);
        end_at_fault(&reducer);
        is_smaller = drop_runs(&reducer, TEXTS_SCENARIO);
        is_smaller |= drop_sites(&reducer);
        is_smaller |= shrink_numbers(&reducer, TEXTS_SCENARIO);
        if (!reducer.is_stuck || reducer.needs_faults) {
            is_smaller |= drop_words(&reducer, TEXTS_SCENARIO);
            is_smaller |= change_configurations(&reducer, drop_sections);
            is_smaller |= change_configurations(&reducer, drop_runs);
            is_smaller |= change_configurations(&reducer, shrink_numbers);
        }
    }
    result->is_done = !is_late(&reducer);
}
