/* SPDX-License-Identifier: Apache-2.0 */
/* sim_search.c: a search for faults among random federations in virtual time: the
 * invariants are checked after every step, and once the faults have stopped everything
 * must settle.
 *
 *     sim_search                         all stored federations, and the first seeds
 *     sim_search SEED                    one random federation, with its logs
 *     sim_search DIRECTORY [SEED]        a stored or reduced federation
 *     sim_search make SEED DIRECTORY     writes its files
 *     sim_search reduce DIRECTORY SEED   makes a failing federation smaller
 *     sim_search soak FIRST COUNT [SECONDS [DIRECTORY]]
 *                                        searches; reduces failing ones and stores them
 *                                        in the directory, if there is one
 *
 * Each federation that ever failed is a directory below tests/sim/seeds. A comment in
 * its scenario states the reason, and "# seed N" is the seed to play it with. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/sim/crew.h"
#include "tests/sim/edits.h"
#include "tests/sim/maker.h"
#include "tests/sim/reducer.h"

enum {
    FIRST_SEEDS = 100, /* random federations in make test */
    REDUCE_S = 120,    /* for one fault */
    REDUCED_MAX = 3,   /* faults of different kinds */
};

#define SEEDS_DIRECTORY "tests/sim/seeds"

/* ---- one federation */

static void print_line(void *arg, int64_t now_ms, const char *line)
{
    (void)arg;
    printf("%10.3f %s\n", (double)now_ms / 1000.0, line);
}

static void print_trial(const char *what, const struct trial *trial)
{
    const struct world_counts *counts = &trial->counts;

    printf("%s: %s\n", what, trial->end == TRIAL_WELL ? "well" : trial->text);
    printf("    %" PRIu64 " steps, %" PRIu64 " messages (%" PRIu64 " lost), %" PRIu64
           " crashes, %" PRIu64 " jobs, %" PRIu64 " begun, %" PRIu64 " hand-overs\n",
           counts->steps, counts->messages, counts->lost, counts->crashes,
           counts->submitted, counts->begun, counts->handovers);
}

static int play_seed(uint64_t seed)
{
    char name[32];
    struct texts texts;
    struct trial trial;

    maker_make(seed, &texts);
    trial_run(&texts, seed, print_line, &trial);
    snprintf(name, sizeof name, "seed %" PRIu64, seed);
    print_trial(name, &trial);
    texts_release(&texts);
    return trial.end != TRIAL_WELL;
}

/* The number of "# seed 17" in the scenario; 1 if there is none. */
static uint64_t seed_of(const struct texts *texts)
{
    const char *body = texts_find(texts, TEXTS_SCENARIO);
    const char *at = body ? strstr(body, "# seed ") : NULL;

    return at ? strtoull(at + strlen("# seed "), NULL, 10) : 1;
}

static int play_directory(const char *directory, const char *seed)
{
    struct texts texts;
    struct trial trial;

    if (!texts_load(&texts, directory)) {
        fprintf(stderr, "%s cannot be read\n", directory);
        return 2;
    }
    trial_run(&texts, seed ? strtoull(seed, NULL, 10) : seed_of(&texts), print_line,
              &trial);
    print_trial(directory, &trial);
    texts_release(&texts);
    return trial.end != TRIAL_WELL;
}

static int write_down(uint64_t seed, const char *directory)
{
    struct texts texts;
    bool is_ok;

    maker_make(seed, &texts);
    is_ok = texts_save(&texts, directory);
    texts_release(&texts);
    if (!is_ok) {
        perror(directory);
    }
    return is_ok ? 0 : 2;
}

/* ---- reducing */

/* Writes the seed and the fault at the top of the scenario. */
static void sign(struct texts *texts, const struct reducer_result *result)
{
    const char *body = texts_find(texts, TEXTS_SCENARIO);
    char *signed_body = NULL;
    size_t size;
    FILE *out;

    if (!strncmp(body, "# seed ", 7)) { /* already there */
        body += strcspn(body, "\n") + 1;
        body += strcspn(body, "\n") + 1;
    }
    out = open_memstream(&signed_body, &size);
    if (!out) {
        abort();
    }
    fprintf(out, "# seed %" PRIu64 "\n# %s\n%s", result->seed, result->trial.text,
            body);
    fclose(out);
    texts_set(texts, TEXTS_SCENARIO, signed_body, size);
    free(signed_body);
}

static void reduce(struct texts *texts, uint64_t seed, const struct trial *trial,
                   const char *directory)
{
    struct reducer_result result;
    int n_before = texts_count_lines(texts);

    reducer_reduce(texts, seed, trial, REDUCE_S, &result);
    sign(texts, &result);
    printf("reduced from %d lines to %d in %d trials%s: %s\n", n_before,
           texts_count_lines(texts) - 2, result.n_trials,
           result.is_done ? "" : " (the time was up)", directory);
    for (int i = 0; i < texts->count; i++) {
        printf("---- %s\n%s", texts->items[i].name, texts->items[i].body);
    }
    if (!texts_save(texts, directory)) {
        perror(directory);
    }
}

static int reduce_directory(const char *directory, uint64_t seed)
{
    struct texts texts;
    struct trial trial;

    if (!texts_load(&texts, directory)) {
        fprintf(stderr, "%s cannot be read\n", directory);
        return 2;
    }
    trial_run_apart(&texts, seed, &trial);
    if (!trial_is_fault(&trial)) {
        fprintf(stderr, "it does not fail: %s\n", trial.text);
        texts_release(&texts);
        return 2;
    }
    reduce(&texts, seed, &trial, directory);
    texts_release(&texts);
    return 0;
}

static bool is_new_fault(const struct crew_report *report, int index)
{
    for (int i = 0; i < index; i++) {
        if (trial_is_same_fault(&report->faults[i].trial,
                                &report->faults[index].trial)) {
            return false;
        }
    }
    return true;
}

/* What was drawn, besides what the line before says. */
static void print_faults(const struct world_counts *counts)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"messages lost", counts->lost},
        {"partitions", counts->partitions},
        {"hosts slowed", counts->slowed},
        {"guards dead", counts->guards},
        {"agents dead", counts->agents},
        {"reboots", counts->machines},
        {"disks lost", counts->disks},
        {"of these four between two steps of a run", counts->between},
        {"journals of sites restored", counts->restored},
        {"leases recovered", counts->recovered},
        {"runs adopted or ended", counts->orphans},
        {"stores of the broker restored", counts->broker_restored},
        {"two brokers at once", counts->split_brains},
    };

    printf("drawn:");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s %" PRIu64 " %s", i > 0 ? "," : "", rows[i].count, rows[i].name);
    }
    printf("\n");
}

static int soak(const struct crew_search *search, const char *directory)
{
    if (directory != NULL && mkdir(directory, 0777) != 0 && errno != EEXIST) {
        perror(directory);
        return 2;
    }
    static struct crew_report report;
    int n_reduced = 0;

    crew_run(search, &report);
    printf("%" PRIu64 " worlds from seed %" PRIu64 ", %" PRIu64
           " failed; %.1f s, %.0f a minute; %" PRIu64 " steps, %" PRIu64
           " crashes, %" PRIu64 " faults of hosts, %" PRIu64 " hand-overs, %" PRIu64
           " jobs begun\n",
           report.n_worlds, search->first, report.n_faults, report.seconds,
           (double)report.n_worlds * 60.0 / report.seconds, report.counts.steps,
           report.counts.crashes, report.counts.host_faults, report.counts.handovers,
           report.counts.begun);
    print_faults(&report.counts);
    for (int i = 0; i < report.n_kept; i++) {
        const struct crew_fault *fault = &report.faults[i];
        printf("seed %" PRIu64 ": %s\n", fault->seed, fault->trial.text);
    }
    fflush(stdout); /* reducing takes minutes */
    for (int i = 0; directory && i < report.n_kept && n_reduced < REDUCED_MAX; i++) {
        const struct crew_fault *fault = &report.faults[i];
        char path[4096];
        struct texts texts;

        if (trial_is_fault(&fault->trial) && is_new_fault(&report, i)) {
            snprintf(path, sizeof path, "%s/seed-%" PRIu64, directory, fault->seed);
            maker_make(fault->seed, &texts);
            reduce(&texts, fault->seed, &fault->trial, path);
            texts_release(&texts);
            n_reduced++;
        }
    }
    return report.n_faults != 0;
}

/* ---- make test */

static void test_same_seed_same_world(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct texts left, right;
        struct trial first, second;

        maker_make(seed, &left);
        maker_make(seed, &right);
        assert_true(texts_is_same(&left, &right));
        trial_run(&left, seed, NULL, &first);
        trial_run(&right, seed, NULL, &second);
        assert_memory_equal(&first.counts, &second.counts, sizeof first.counts);
        texts_release(&left);
        texts_release(&right);
    }
}

static void test_first_seeds(void **state)
{
    static struct crew_report report;
    struct crew_search search = {.first = 1, .count = FIRST_SEEDS, .n_workers = 1};

    (void)state;
    crew_run(&search, &report);
    for (int i = 0; i < report.n_kept; i++) {
        print_error("seed %" PRIu64 ": %s\n", report.faults[i].seed,
                    report.faults[i].trial.text);
    }
    assert_int_equal(report.n_faults, 0);
    assert_int_equal(report.n_worlds, FIRST_SEEDS);
    /* federations in which nothing happens prove nothing */
    assert_true(report.counts.begun > 20 * FIRST_SEEDS);
    assert_true(report.counts.handovers > FIRST_SEEDS);
    assert_true(report.counts.lost > FIRST_SEEDS);
    assert_true(report.counts.crashes > FIRST_SEEDS);
    assert_true(report.counts.host_faults > FIRST_SEEDS);
    assert_true(report.counts.guards > 0 && report.counts.agents > 0);
    assert_true(report.counts.machines > 0 && report.counts.disks > 0);
    assert_true(report.counts.slowed > 0 && report.counts.between > 0);
    assert_true(report.counts.restored > 0 && report.counts.recovered > 0);
    assert_true(report.counts.orphans > 0 && report.counts.split_brains > 0);
}

static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "README.md") != 0;
}

static void test_stored_federations(void **state)
{
    struct dirent **entries;
    int n = scandir(SEEDS_DIRECTORY, &entries, is_name, alphasort), failed = 0;

    (void)state;
    assert_true(n > 0); /* from the root of the repository */
    for (int i = 0; i < n; i++) {
        char path[512];
        struct texts texts;
        struct trial trial;

        snprintf(path, sizeof path, "%s/%s", SEEDS_DIRECTORY, entries[i]->d_name);
        free(entries[i]);
        if (!texts_load(&texts, path)) {
            fail_msg("%s cannot be read", path);
        }
        trial_run(&texts, seed_of(&texts), NULL, &trial);
        if (trial.end != TRIAL_WELL) {
            print_trial(path, &trial);
            failed++;
        }
        texts_release(&texts);
    }
    free(entries);
    assert_int_equal(failed, 0);
}

static void set_text(struct texts *texts, const char *name, const char *body)
{
    texts_set(texts, name, body, strlen(body));
}

/* Its file, its line, its statements, its share, and a policy without another consumer
 * are removed. */
static void test_a_site_is_removed(void **state)
{
    struct texts texts = {.count = 0};

    (void)state;
    set_text(&texts, TEXTS_SCENARIO,
             "site s1 s1.conf\nsite s12 s12.conf\nat 1 submit s12 slots=1 name=s1x\n"
             "at 2 submit s1 slots=1\nat 3 set reclaim_delay 2s lease=s12/p1/s1\n"
             "at 4 crash s1 3s\nat 5 loss 0.1\nuntil 9\n");
    set_text(&texts, "s1.conf", "Begin Site\nNAME = s1\nEnd Site\n");
    set_text(&texts, "s12.conf",
             "Begin HostExport\nSLOTS = 1\nDISTRIBUTION = ([s1, 2] [s3, 1])\n"
             "End HostExport\nBegin HostExport\nSLOTS = 2\n"
             "DISTRIBUTION = ([s1, 1])\nEnd HostExport\nBegin Queue\nEnd Queue\n");
    edits_drop_site(&texts, "s1");
    assert_int_equal(texts.count, 2);
    assert_string_equal(texts_find(&texts, TEXTS_SCENARIO),
                        "site s12 s12.conf\nat 1 submit s12 slots=1 name=s1x\n"
                        "at 5 loss 0.1\nuntil 9\n");
    assert_string_equal(texts_find(&texts, "s12.conf"),
                        "Begin HostExport\nSLOTS = 1\nDISTRIBUTION = ( [s3, 1])\n"
                        "End HostExport\nBegin Queue\nEnd Queue\n");
    edits_drop_faults(&texts);
    assert_string_equal(
        texts_find(&texts, TEXTS_SCENARIO),
        "site s12 s12.conf\nat 1 submit s12 slots=1 name=s1x\nuntil 9\n");
    texts_release(&texts);
}

/* Two texts are compared without their names and numbers. */
static void test_the_same_fault_is_recognised(void **state)
{
    static const struct {
        const char *left, *right;
        bool is_same;
    } rows[] = {
        {"seed 5 at 17 ms: s1/p1/s2 on h11: uses 3/2 and 0/1",
         "seed 1 at 9 ms: s2/p3/s1 on h24: uses 1/0 and 2/3", true},
        {"seed 5 at 17 ms: s1/p1/s2: epoch went from 3 back to 2",
         "seed 5 at 17 ms: s1/p1/s2 on h11: uses 3/2 and 0/1", false},
        {"job s1 4 has not ended", "job s3 12 has not ended", true},
        {"job s1 4 has not ended", "s1/p1/s2 is still inactive", false},
        {"job s1 4 ended", "job s1 4 ended and is now in state 2", false},
        {"", "", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trial left = {.end = TRIAL_VIOLATED}, right = {.end = TRIAL_VIOLATED};

        snprintf(left.text, sizeof left.text, "%s", rows[i].left);
        snprintf(right.text, sizeof right.text, "%s", rows[i].right);
        if (trial_is_same_fault(&left, &right) != rows[i].is_same) {
            fail_msg("%s | %s", rows[i].left, rows[i].right);
        }
        right.end = TRIAL_STUCK;
        assert_false(trial_is_same_fault(&left, &right));
    }
}

/* An expectation that does not hold is a fault like any other. The reduced federation
 * has little more than the job that the expectation names. */
static void test_what_fails_is_reduced(void **state)
{
    static const char expectation[] = "at 17 submit s1 run=9s name=odd\n"
                                      "expect at 350 job s1 odd state == NEVER\n";
    struct texts texts;
    struct trial trial;
    struct reducer_result result;
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);

    (void)state;
    assert_non_null(out);
    maker_make(3, &texts);
    fprintf(out, "%s%s", texts_find(&texts, TEXTS_SCENARIO), expectation);
    fclose(out);
    texts_set(&texts, TEXTS_SCENARIO, body, size);
    free(body);
    trial_run_apart(&texts, 3, &trial);
    assert_int_equal(trial.end, TRIAL_UNEXPECTED);
    reducer_reduce(&texts, 3, &trial, 30 * REDUCE_S, &result);
    assert_true(result.is_done);
    assert_non_null(strstr(texts_find(&texts, TEXTS_SCENARIO), "name=odd"));
    print_message("%d trials: %s", result.n_trials, texts_find(&texts, TEXTS_SCENARIO));
    assert_in_range(texts_count_lines(&texts), 1, 15);
    trial_run(&texts, result.seed, NULL, &trial);
    assert_int_equal(trial.end, TRIAL_UNEXPECTED);
    texts_release(&texts);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_site_is_removed),
        cmocka_unit_test(test_the_same_fault_is_recognised),
        cmocka_unit_test(test_same_seed_same_world),
        cmocka_unit_test(test_what_fails_is_reduced),
        cmocka_unit_test(test_stored_federations),
        cmocka_unit_test(test_first_seeds),
    };

    if (argc >= 4 && !strcmp(argv[1], "soak")) {
        struct crew_search search = {.first = strtoull(argv[2], NULL, 10),
                                     .count = strtoull(argv[3], NULL, 10),
                                     .limit_s =
                                         argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0};
        return soak(&search, argc > 5 ? argv[5] : NULL);
    }
    if (argc == 4 && !strcmp(argv[1], "make")) {
        return write_down(strtoull(argv[2], NULL, 10), argv[3]);
    }
    if (argc == 4 && !strcmp(argv[1], "reduce")) {
        return reduce_directory(argv[2], strtoull(argv[3], NULL, 10));
    }
    if (argc == 2 && strspn(argv[1], "0123456789") == strlen(argv[1])) {
        return play_seed(strtoull(argv[1], NULL, 10));
    }
    if (argc > 1) {
        return play_directory(argv[1], argc > 2 ? argv[2] : NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
