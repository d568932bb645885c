/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_job.c: see slurm_job.h. */
#include "slurm/slurm_job.h"

#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_hostlist.h"
#include "slurm/slurm_reservation.h"
#include "slurm/slurm_row.h"

enum {
    ID,
    STATE,
    USER,
    PARTITION,
    CPUS,
    STATUS,
    START,
    END,
    REASON,
    RESERVATION,
    COMMENT,
    NODES,
    N_CELLS
};

/* Comments and reservations of ours are shorter than their columns. */
static const struct slurm_column columns[N_CELLS] = {
    [ID] = {"JobID", 0, false},         [STATE] = {"StateCompact", 0, false},
    [USER] = {"UserName", 0, false},    [PARTITION] = {"Partition", 0, false},
    [CPUS] = {"NumCPUs", 0, false},     [STATUS] = {"exit_code", 0, false},
    [START] = {"StartTime", 0, false},  [END] = {"EndTime", 0, false},
    [REASON] = {"Reason", 24, true},    [RESERVATION] = {"Reservation", 240, true},
    [COMMENT] = {"Comment", 200, true}, [NODES] = {"NodeList", 0, false},
};

const char *const *slurm_job_command(struct arena *arena)
{
    const char **words = arena_alloc(arena, 8, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "squeue";
    words[n_words++] = "--noheader";
    words[n_words++] = "--all"; /* hidden partitions too */
    words[n_words++] = "--local";
    words[n_words++] = "--states=all";
    words[n_words++] = "--Format";
    words[n_words++] = slurm_row_format(arena, columns, N_CELLS);
    return words;
}

/* ---------------------------------------------------------------- comments */

const char *slurm_job_format_comment(struct arena *arena, const char *site,
                                     const struct run_id *run)
{
    return arena_printf(arena, "sublet:%s:%s:%llu:%llu", site, run->site,
                        (unsigned long long)run->attempt,
                        (unsigned long long)run->nonce);
}

/* Leaves the job as it is if the comment is not one of ours. */
static void read_comment(struct arena *arena, const char *text, struct slurm_job *job)
{
    enum { WORDS = 5 };
    const char *words[WORDS];
    int64_t attempt, nonce;
    if (strncmp(text, "sublet:", 7) != 0) {
        return;
    }
    char *rest = arena_str(arena, text);
    for (int i = 0; i < WORDS; i++) {
        words[i] = strsep(&rest, ":");
        if (words[i] == NULL) {
            return;
        }
    }
    if (rest != NULL || conf_parse_name(words[1], NULL) != 0 ||
        conf_parse_name(words[2], NULL) != 0 ||
        conf_parse_int(words[3], 1, INT64_MAX, &attempt, NULL) != 0 ||
        conf_parse_int(words[4], 1, INT64_MAX, &nonce, NULL) != 0) {
        return;
    }
    struct run_id run = {words[2], (uint64_t)attempt, (uint64_t)nonce};
    if (strcmp(slurm_job_format_comment(arena, words[1], &run), text) == 0) {
        job->site = words[1];
        job->run = run;
    }
}

bool slurm_job_is_run(const struct slurm_job *job, const char *site,
                      const struct run_id *run)
{
    return job->site != NULL && job->run.attempt == run->attempt &&
           job->run.nonce == run->nonce && strcmp(job->run.site, run->site) == 0 &&
           strcmp(job->site, site) == 0;
}

const struct slurm_job *slurm_job_find_run(const struct slurm_jobs *jobs,
                                           const char *site, const struct run_id *run,
                                           const char *user)
{
    const struct slurm_job *found = NULL;
    for (int i = 0; i < jobs->count; i++) {
        const struct slurm_job *job = &jobs->items[i];
        if (slurm_job_is_run(job, site, run) && strcmp(job->user, user) == 0 &&
            (found == NULL || job->id < found->id)) {
            found = job;
        }
    }
    return found;
}

/* ---------------------------------------------------------------- a line */

static bool is_one_of(const char *code, const char *const *codes)
{
    while (*codes != NULL && strcmp(*codes, code) != 0) {
        codes++;
    }
    return *codes != NULL;
}

static enum slurm_job_phase phase_of(const char *state)
{
    static const char *const waiting[] = {"PD", "RF", "RH", "RQ", "SE", NULL};
    static const char *const stopped[] = {"S", "ST", NULL};
    /* RD: it waited when its reservation ended, and is held for ever. */
    static const char *const ended[] = {"BF",  "CA", "CD", "DL", "F",  "NF",
                                        "OOM", "PR", "RD", "RV", "TO", NULL};
    return is_one_of(state, waiting)   ? SLURM_JOB_WAITING
           : is_one_of(state, stopped) ? SLURM_JOB_STOPPED
           : is_one_of(state, ended)   ? SLURM_JOB_ENDED
                                       : SLURM_JOB_RUNNING;
}

static int read_number(const char *const *cells, int cell, int64_t least, int64_t most,
                       int64_t *number, struct err *err)
{
    struct err cause;
    return conf_parse_int(cells[cell], least, most, number, &cause) == 0
               ? 0
               : err_set(err, ERR_BOUNDS, "%s: %s", columns[cell].field, cause.text);
}

static int read_run(const char *const *cells, struct slurm_job *job, struct err *err)
{
    int64_t status;
    int rc = read_number(cells, STATUS, 0, UINT16_MAX, &status, err);
    if (rc == 0) {
        job->wait_status = (int)status;
    }
    if (rc == 0 && job->phase != SLURM_JOB_WAITING && cells[START][0] != '\0') {
        rc = read_number(cells, START, 0, INT64_MAX, &job->start_s, err);
    }
    if (rc == 0 && job->phase == SLURM_JOB_ENDED && cells[END][0] != '\0') {
        rc = read_number(cells, END, 0, INT64_MAX, &job->end_s, err);
    }
    return rc;
}

static int read_job(struct arena *arena, const char **text, struct slurm_job *job,
                    struct err *err)
{
    const char *cells[N_CELLS];
    int64_t n_cpus = 0;
    int rc = slurm_row_read(arena, text, columns, N_CELLS, cells, err);
    if (rc < 0) {
        return rc;
    }
    *job = (struct slurm_job){.phase = phase_of(cells[STATE]),
                              .state = cells[STATE],
                              .reservation = cells[RESERVATION],
                              .reason = cells[REASON],
                              .user = cells[USER],
                              .partitions = cells[PARTITION]};
    read_comment(arena, cells[COMMENT], job);
    rc = read_number(cells, ID, 1, UINT32_MAX, &job->id, err);
    if (rc == 0 && job->site != NULL) {
        rc = read_run(cells, job, err);
    }
    if (rc == 0 && job->phase == SLURM_JOB_WAITING) {
        rc = read_number(cells, CPUS, 0, UINT32_MAX, &n_cpus, err);
        job->n_cpus = n_cpus < SLOTS_MAX ? (int)n_cpus : SLOTS_MAX;
    }
    if (rc == 0 && slurm_job_has_nodes(job)) {
        rc = slurm_hostlist_read(arena, cells[NODES], &job->nodes, &job->n_nodes, err);
        rc = rc < 0 ? err_prefix(err, "NodeList of job %s", cells[ID]) : 0;
    }
    return rc;
}

int slurm_job_read(struct arena *arena, const char *text, struct slurm_jobs *jobs,
                   struct err *err)
{
    struct slurm_jobs made = {.count = 0};
    int n_lines = slurm_row_count(text, JOBS_MAX, err);
    if (n_lines < 0) {
        return n_lines;
    }
    made.items = arena_alloc(arena, (size_t)n_lines, sizeof(*made.items));
    while (*text != '\0') {
        if (read_job(arena, &text, &made.items[made.count], err) < 0) {
            return err_prefix(err, "line %d", made.count + 1);
        }
        made.count++;
    }
    *jobs = made;
    return 0;
}

/* ---------------------------------------------------------------- waiting */

/* "Resources", or "ReqNodeNotAvail, ..." for a node that is reserved. */
static bool waits_for_nodes(const char *reason)
{
    static const char *const reasons[] = {"Resources", "Priority", "ReqNodeNotAvail",
                                          "Nodes", "None"};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (strncmp(reason, reasons[i], strlen(reasons[i])) == 0) {
            return true;
        }
    }
    return false;
}

int slurm_job_count_waiting(struct arena *arena, const struct slurm_jobs *jobs,
                            const char *partition, const char *site)
{
    const struct slurm_reservation_name name = {site, "p", "c", 1};
    const char *ours = slurm_reservation_format_name(arena, &name);
    size_t n_ours = strlen(ours) - strlen("p_c_e1");
    int64_t sum = 0;
    for (int i = 0; i < jobs->count; i++) {
        const struct slurm_job *job = &jobs->items[i];
        bool is_here =
            partition[0] == '\0' ||
            slurm_reservation_has_word(job->partitions, partition, strlen(partition));
        if (job->phase == SLURM_JOB_WAITING && is_here &&
            waits_for_nodes(job->reason) &&
            strncmp(job->reservation, ours, n_ours) != 0) {
            sum += job->n_cpus;
        }
    }
    return sum < SLOTS_MAX ? (int)sum : SLOTS_MAX;
}
