/* SPDX-License-Identifier: Apache-2.0 */
/* crew.c: each worker takes the next seed from a shared counter and writes its result
 * into a shared pipe. A result is smaller than PIPE_BUF, so that it is written in one
 * piece. */
#include "tests/sim/crew.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/maker.h"

enum { WORKERS_MAX = 64, WORLD_LIMIT_S = 120 };

_Static_assert(sizeof(struct crew_fault) <= PIPE_BUF, "a result is one write");

struct shared {
    atomic_ullong next;
    atomic_ullong at[WORKERS_MAX]; /* the seed that each worker plays */
};

struct crew {
    const struct crew_search *search;
    struct crew_report *report;
    struct shared *shared;
    pid_t workers[WORKERS_MAX];
    int n_workers, n_alive;
    int write_fd, read_fd;
    struct timespec begin;
};

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) +
           (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static bool is_time_up(const struct crew *crew)
{
    return crew->search->limit_s &&
           seconds_since(&crew->begin) >= crew->search->limit_s;
}

_Noreturn static void work(struct crew *crew, int index)
{
    uint64_t end = crew->search->first + crew->search->count;
    uint64_t seed;

    while (!is_time_up(crew) &&
           (seed = atomic_fetch_add(&crew->shared->next, 1)) < end) {
        struct crew_fault result = {.seed = seed};
        struct texts texts;

        atomic_store(&crew->shared->at[index], seed);
        alarm(WORLD_LIMIT_S);
        maker_make(seed, &texts);
        trial_run(&texts, seed, NULL, &result.trial);
        texts_release(&texts);
        if (write(crew->write_fd, &result, sizeof result) != (ssize_t)sizeof result) {
            _exit(2);
        }
    }
    _exit(0);
}

static void start_worker(struct crew *crew, int index)
{
    fflush(NULL);
    crew->workers[index] = fork();
    if (crew->workers[index] == 0) {
        close(crew->read_fd);
        work(crew, index);
    }
    if (crew->workers[index] < 0) {
        perror("fork");
        exit(2);
    }
    crew->n_alive++;
}

_Static_assert(sizeof(struct world_counts) % sizeof(uint64_t) == 0, "only numbers");

static void add_counts(struct world_counts *sum, const struct world_counts *counts)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) {
        to[i] += from[i];
    }
}

static void take(struct crew *crew, const struct crew_fault *result)
{
    struct crew_report *report = crew->report;

    report->n_worlds++;
    add_counts(&report->counts, &result->trial.counts);
    /* Texts that cannot be read are a fault of the maker. */
    if (result->trial.end != TRIAL_WELL) {
        report->n_faults++;
        if (report->n_kept < CREW_FAULTS_MAX) {
            report->faults[report->n_kept++] = *result;
        }
    }
}

/* Replaces workers that have died. A worker that has finished is not replaced. */
static void reap(struct crew *crew)
{
    for (int i = 0; i < crew->n_workers; i++) {
        struct crew_fault result = {.seed = 0};
        int status;

        if (crew->workers[i] <= 0 || waitpid(crew->workers[i], &status, WNOHANG) <= 0) {
            continue;
        }
        crew->workers[i] = 0;
        crew->n_alive--;
        if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
            int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            result.seed = atomic_load(&crew->shared->at[i]);
            result.trial.end = signal == SIGALRM ? TRIAL_ENDLESS : TRIAL_DIED;
            snprintf(result.trial.text, sizeof result.trial.text,
                     "ended by signal %d (%s)", signal, strsignal(signal));
            take(crew, &result);
            start_worker(crew, i);
        }
    }
}

static void receive(struct crew *crew)
{
    struct pollfd poll_for = {.fd = crew->read_fd, .events = POLLIN};
    struct crew_fault result;

    while (poll(&poll_for, 1, 100) > 0 && (poll_for.revents & POLLIN) &&
           read(crew->read_fd, &result, sizeof result) == (ssize_t)sizeof result) {
        take(crew, &result);
        if (isatty(STDERR_FILENO) && crew->report->n_worlds % 50 == 0) {
            fprintf(stderr, "\r%llu worlds, %llu failed ",
                    (unsigned long long)crew->report->n_worlds,
                    (unsigned long long)crew->report->n_faults);
        }
    }
}

static int by_seed(const void *left, const void *right)
{
    const struct crew_fault *a = left, *b = right;

    return a->seed < b->seed ? -1 : a->seed > b->seed;
}

void crew_run(const struct crew_search *search, struct crew_report *report)
{
    struct crew crew = {.search = search, .report = report};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int ends[2];

    *report = (struct crew_report){.n_worlds = 0};
    crew.shared = mmap(NULL, sizeof *crew.shared, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crew.shared == MAP_FAILED || pipe(ends) != 0) {
        perror("crew");
        exit(2);
    }
    crew.read_fd = ends[0];
    crew.write_fd = ends[1];
    atomic_store(&crew.shared->next, search->first);
    clock_gettime(CLOCK_MONOTONIC, &crew.begin);
    crew.n_workers = search->n_workers ? search->n_workers : (int)processors;
    crew.n_workers = crew.n_workers > WORKERS_MAX ? WORKERS_MAX : crew.n_workers;
    for (int i = 0; i < crew.n_workers; i++) {
        start_worker(&crew, i);
    }
    while (crew.n_alive > 0) {
        receive(&crew);
        reap(&crew);
    }
    receive(&crew);
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r                              \r");
    }
    close(ends[0]);
    close(ends[1]);
    munmap(crew.shared, sizeof *crew.shared);
    report->seconds = seconds_since(&crew.begin);
    qsort(report->faults, (size_t)report->n_kept, sizeof report->faults[0], by_seed);
}
