/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pass.c: scheduling passes over many waiting jobs: a site's step machine in this
 * process, without a store and without hosts.
 *
 * 50 users, 20 queues, and 5,000 hosts of 64 slots; jobs of 1 slot, of every user in
 * every queue. Full: other jobs of the highest priority use all slots, nothing can
 * start, and a pass reports that for each job. Empty: all jobs start. A pass is one
 * tick of the shell; a start takes as many ticks as it needs. On a shared machine,
 * processor time is the time of the program itself. The memory of jobs is what the
 * allocator requested for jobs without an environment and with a command of 20 bytes.
 * Arguments: the largest number of jobs, and the name of an additional case, or
 * "whole": with the rows and messages of a daemon. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec.h"
#include "site/io/journal.h"
#include "tests/bench/bench.h"
#include "tests/bench/lone_site.h"

enum {
    N_USERS = 50,
    N_QUEUES = 20,
    N_HOSTS = 5000,
    N_JOBS = 100000, /* if another number is varied */
    HOST_SLOTS = 64,
    TICKS_MAX = 100000,
};

/* The differences from the plain case. */
struct rules {
    const char *what;
    int n_hosts;            /* 0: N_HOSTS */
    const char *require[2]; /* -R of jobs, around a number ... */
    int n_strings;          /* ... that many different ones; 0: none */
    struct lone_site_text text;
    struct journal *journal; /* NULL: none */
};

static const struct rules plain;

static int count_hosts(const struct rules *rules)
{
    return rules->n_hosts != 0 ? rules->n_hosts : N_HOSTS;
}

struct pass {
    struct lone_site lone;
    int n_started;
};

/* Milliseconds of one tick. */
static double tick(struct pass *pass)
{
    double start = bench_now();
    pass->n_started += lone_site_tick(&pass->lone, MSG_RUN_START);
    return (bench_now() - start) * 1e3;
}

struct settling {
    double total_ms, longest_ms, cpu_ms;
};

static struct settling settle(struct pass *pass)
{
    struct settling settling = {0};
    double cpu_s = bench_cpu_now();
    for (int i = 0; i < TICKS_MAX && site_wake_ms(pass->lone.site) <= pass->lone.now_ms;
         i++) {
        double ms = tick(pass);
        settling.total_ms += ms;
        settling.longest_ms = ms > settling.longest_ms ? ms : settling.longest_ms;
    }
    settling.cpu_ms = (bench_cpu_now() - cpu_s) * 1e3;
    return settling;
}

/* A site with its waiting jobs, before its hosts have connected. Returns bytes per job.
 */
static double begin(struct pass *pass, const struct rules *rules, int n_jobs,
                    bool is_full)
{
    struct lone_site *lone = &pass->lone;
    pass->n_started = 0;
    lone_site_init(lone, count_hosts(rules), HOST_SLOTS, N_QUEUES + 1, N_USERS);
    lone_site_read(lone, &rules->text);
    lone->journal = rules->journal;
    if (rules->n_strings > 0) {
        lone_site_require(lone, rules->require[0], rules->require[1], rules->n_strings);
    }
    lone_site_begin(lone);
    for (int i = 0; is_full && i < count_hosts(rules); i++) {
        lone_site_load_job(lone, N_QUEUES, 0,
                           HOST_SLOTS); /* of a queue before all others */
    }
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < n_jobs; i++) {
        lone_site_load_job(lone, i / N_USERS % N_QUEUES, i % N_USERS, 1);
    }
    lone_site_start(lone, lone->last_job);
    return (double)(mallinfo2().uordblks - before) / n_jobs;
}

static void bench_full(struct pass *pass, int n_jobs, const char *aim)
{
    struct bench_series whole = {0}, longest = {0}, cpu = {0}, bytes = {0};
    char text[96];
    bench_add(&bytes, begin(pass, &plain, n_jobs, true));
    lone_site_hosts_come(&pass->lone);
    settle(pass);
    if (pass->n_started != N_HOSTS) {
        bench_fail("%d jobs hold the slots, expected %d", pass->n_started, N_HOSTS);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        lone_site_nudge(&pass->lone);
        struct settling settling = settle(pass);
        bench_add(&whole, settling.total_ms);
        bench_add(&longest, settling.longest_ms);
        bench_add(&cpu, settling.cpu_ms);
    }
    snprintf(text, sizeof(text), "full: a pass over %d jobs that starts none", n_jobs);
    bench_print_row(text, "ms", &whole, aim);
    bench_print_row("      its processor time", "ms", &cpu, aim);
    bench_print_row("      its longest tick", "ms", &longest, "");
    bench_print_row("      memory of a waiting job", "bytes", &bytes, "1024");
    lone_site_release(&pass->lone);
}

static void bench_empty(struct pass *pass, int n_jobs, const char *aim)
{
    struct bench_series whole = {0}, longest = {0}, cpu = {0};
    char text[96];
    int n_expected = n_jobs < N_HOSTS * HOST_SLOTS ? n_jobs : N_HOSTS * HOST_SLOTS;
    begin(pass, &plain, n_jobs, false);
    lone_site_hosts_come(&pass->lone);
    struct settling settling = settle(pass);
    if (pass->n_started != n_expected) {
        bench_fail("%d jobs started, expected %d", pass->n_started, n_expected);
    }
    bench_add(&whole, settling.total_ms);
    bench_add(&longest, settling.longest_ms);
    bench_add(&cpu, settling.cpu_ms);
    snprintf(text, sizeof(text), "empty: %d of %d jobs start", n_expected, n_jobs);
    bench_print_row(text, "ms", &whole, aim);
    bench_print_row("      its processor time", "ms", &cpu, aim);
    bench_print_row("      its longest tick", "ms", &longest, "");
    lone_site_release(&pass->lone);
}

/* ---------------------------------------------------------------- additional cases */

static double pass_cpu_ms(struct pass *pass, const struct rules *rules)
{
    struct bench_series cpu = {0};
    begin(pass, rules, N_JOBS, true);
    lone_site_hosts_come(&pass->lone);
    settle(pass);
    if (pass->n_started != count_hosts(rules)) {
        bench_fail("%s: %d jobs hold the slots, expected %d", rules->what,
                   pass->n_started, count_hosts(rules));
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        lone_site_nudge(&pass->lone);
        bench_add(&cpu, settle(pass).cpu_ms);
    }
    lone_site_release(&pass->lone);
    return bench_median(&cpu);
}

static double start_cpu_us(struct pass *pass, const struct rules *rules)
{
    begin(pass, rules, N_JOBS, false);
    lone_site_hosts_come(&pass->lone);
    double cpu_ms = settle(pass).cpu_ms;
    int n_slots = count_hosts(rules) * HOST_SLOTS;
    if (pass->n_started != (n_slots < N_JOBS ? n_slots : N_JOBS)) {
        bench_fail("%s: %d jobs started", rules->what, pass->n_started);
    }
    lone_site_release(&pass->lone);
    return cpu_ms * 1e3 / pass->n_started;
}

#define SELECT                                                                         \
    {                                                                                  \
        "select[mem > ", "]"                                                           \
    }
#define RUSAGE                                                                         \
    {                                                                                  \
        "rusage[mem=", "]"                                                             \
    }
#define SHARES "FAIRSHARE = USER_SHARES[[default, 1]]\n"

static void bench_rules(struct pass *pass, const char *only)
{
    static const struct rules all[] = {
        {.what = "nothing more"},
        {.what = "500 hosts", .n_hosts = 500},
        {.what = "10,000 hosts", .n_hosts = 10000},
        {.what = "1 requirement", .require = SELECT, .n_strings = 1},
        {.what = "100 different requirements", .require = SELECT, .n_strings = 100},
        {.what = "10,000 different ones", .require = SELECT, .n_strings = 10000},
        {.what = "an order",
         .require = {"order[mem] select[mem > ", "]"},
         .n_strings = 1},
        {.what = "a reservation", .require = RUSAGE, .n_strings = 1},
        {.what = "100 different reservations", .require = RUSAGE, .n_strings = 100},
        {.what = "shares", .text.all = SHARES},
        {.what = "a slot pool of 4 queues, and shares",
         .text = {.all = SHARES,
                  .low = "SLOT_POOL = pool\nSLOT_SHARE = 25\n",
                  .n_low = 4}},
        {.what = "limits of users and hosts",
         .text.all = "UJOB_LIMIT = 400000\nHJOB_LIMIT = 64\n"},
    };
    printf("\nwith more to look at: %d jobs, processor time\n%-44s %14s %14s\n", N_JOBS,
           "", "a pass, ms", "a start, us");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (only != NULL && strstr(all[i].what, only) == NULL) {
            continue;
        }
        double pass_ms = pass_cpu_ms(pass, &all[i]);
        printf("%-44s %14.2f %14.2f\n", all[i].what, pass_ms,
               start_cpu_us(pass, &all[i]));
        fflush(stdout);
    }
}

/* ---------------------------------------------------------------- as a daemon */

/* As a daemon after a tick: commits the rows and encodes the messages. */
static void carry_out(struct lone_site *lone, double *journal_s, double *pack_s)
{
    double begin_s = bench_cpu_now();
    struct err err;
    int code = db_begin(journal_db(lone->journal), &err);
    for (int i = 0; code == 0 && i < lone->effects.count; i++) {
        if (lone->effects.items[i].kind == EFFECT_STORE) {
            code = journal_write(lone->journal, &lone->effects.items[i].row, &err);
        }
    }
    code = code == 0 ? db_commit(journal_db(lone->journal), &err) : code;
    db_maintain(journal_db(lone->journal), 0);
    double packing_s = bench_cpu_now();
    for (int i = 0; code == 0 && i < lone->effects.count; i++) {
        uint8_t *bytes = NULL;
        size_t length;
        if (lone->effects.items[i].kind == EFFECT_SEND) {
            code =
                codec_encode(&lone->effects.items[i].send.msg, &bytes, &length, &err);
            free(bytes);
        }
    }
    if (code < 0) {
        bench_fail("%s", err.text);
    }
    *journal_s += packing_s - begin_s;
    *pack_s += bench_cpu_now() - packing_s;
}

static struct journal *begin_journal(struct bench_place *place)
{
    struct journal *journal;
    struct err err;
    bench_place_init(place);
    if (journal_open(bench_place_path(place, "journal"), false, &journal, &err) < 0 ||
        db_begin(journal_db(journal), &err) < 0) {
        bench_fail("%s", err.text);
    }
    return journal;
}

static void bench_whole(struct pass *pass)
{
    struct bench_place place;
    struct bench_series step = {0}, journal = {0}, pack = {0}, whole = {0};
    struct bench_series longest = {0};
    struct lone_site *lone = &pass->lone;
    double journal_s = 0, pack_s = 0, longest_ms = 0, step_s = 0;
    struct err err;
    struct rules rules = plain;
    rules.journal = begin_journal(&place);
    begin(pass, &rules, N_JOBS, false);
    if (db_commit(journal_db(lone->journal), &err) < 0) {
        bench_fail("%s", err.text);
    }
    lone_site_hosts_come(lone);
    while (site_wake_ms(lone->site) <= lone->now_ms) {
        double begin_s = bench_cpu_now();
        tick(pass);
        step_s += bench_cpu_now() - begin_s;
        carry_out(lone, &journal_s, &pack_s);
        double ms = (bench_cpu_now() - begin_s) * 1e3;
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    bench_add(&step, step_s * 1e3);
    bench_add(&journal, journal_s * 1e3);
    bench_add(&pack, pack_s * 1e3);
    bench_add(&longest, longest_ms);
    bench_print_row("100000 start: the passes, processor time", "ms", &step, "");
    bench_print_row("      their rows in the journal", "ms", &journal, "");
    bench_print_row("      their messages packed", "ms", &pack, "");
    bench_add(&whole, (step_s + journal_s + pack_s) * 1e3);
    bench_print_row("      all three", "ms", &whole, "1000");
    bench_print_row("      the longest batch of all this", "ms", &longest, "");
    journal_close(lone->journal);
    lone_site_release(lone);
    bench_place_release(&place);
}

int main(int argc, char **argv)
{
    static struct pass pass;
    static const int sizes[] = {1000, 10000, 100000, 1000000};
    long largest = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    bench_print_head("scheduling passes: 50 users, 20 queues, 5,000 hosts of 64 slots");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] <= largest) {
            bool is_aimed = sizes[i] == 100000;
            bench_full(&pass, sizes[i], is_aimed ? "10" : "");
            bench_empty(&pass, sizes[i], is_aimed ? "1000" : "");
        }
    }
    const char *only = argc > 2 ? argv[2] : NULL;
    if (only == NULL || strcmp(only, "whole") == 0) {
        bench_whole(&pass);
    }
    if (only == NULL || strcmp(only, "whole") != 0) {
        bench_rules(&pass, only);
    }
    return 0;
}
