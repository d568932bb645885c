/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_job.c: see slurm_job.h. */
#include "slurm/slurm_job.h"

#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_hostlist.h"
#include "slurm/slurm_reservation.h"
#include "slurm/slurm_row.h"

enum { ID, STATE, RESERVATION, NODES, N_CELLS };

static const struct slurm_column columns[N_CELLS] = {
    [ID] = {"JobID", 16, false},
    [STATE] = {"StateCompact", 8, false},
    [RESERVATION] = {"Reservation", 256, false},
    [NODES] = {"NodeList", 4096, false},
};

const char *const *slurm_job_command(struct arena *arena)
{
    const char **words = arena_alloc(arena, 6, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "squeue";
    words[n_words++] = "--noheader";
    words[n_words++] = "--states=RUNNING,SUSPENDED,COMPLETING,CONFIGURING,STOPPED,"
                       "STAGE_OUT,SIGNALING,RESIZING";
    words[n_words++] = "--Format";
    words[n_words++] = slurm_row_format(arena, columns, N_CELLS);
    return words;
}

static int read_job(struct arena *arena, const char **text, struct slurm_job *job,
                    struct err *err)
{
    const char *cells[N_CELLS];
    struct err cause;
    int rc = slurm_row_read(arena, text, columns, N_CELLS, cells, err);
    if (rc < 0) {
        return rc;
    }
    *job = (struct slurm_job){.state = cells[STATE], .reservation = cells[RESERVATION]};
    if (conf_parse_int(cells[ID], 1, UINT32_MAX, &job->id, &cause) != 0) {
        return err_set(err, ERR_BOUNDS, "JobID: %s", cause.text);
    }
    rc = slurm_hostlist_read(arena, cells[NODES], &job->nodes, &job->n_nodes, err);
    return rc < 0 ? err_prefix(err, "NodeList of job %s", cells[ID]) : 0;
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

enum { WAITING_CPUS, WAITING_REASON, WAITING_RESERVATION, N_WAITING };

/* The names of the site's reservations begin with it. */
static const struct slurm_column waiting_columns[N_WAITING] = {
    [WAITING_CPUS] = {"NumCPUs", 12, false},
    [WAITING_REASON] = {"Reason", 24, true},
    [WAITING_RESERVATION] = {"Reservation", 80, true},
};

const char *const *slurm_job_waiting_command(struct arena *arena, const char *partition)
{
    const char **words = arena_alloc(arena, 8, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "squeue";
    words[n_words++] = "--noheader";
    words[n_words++] = "--states=PENDING";
    if (partition[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--partition=%s", partition);
    }
    words[n_words++] = "--Format";
    words[n_words++] = slurm_row_format(arena, waiting_columns, N_WAITING);
    return words;
}

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

int slurm_job_read_waiting(struct arena *arena, const char *text, const char *site,
                           int *n_cpus, struct err *err)
{
    const struct slurm_reservation_name name = {site, "p", "c", 1};
    const char *ours = slurm_reservation_format_name(arena, &name);
    size_t n_ours = strlen(ours) - strlen("p_c_e1");
    int64_t sum = 0;
    for (int line = 1; *text != '\0'; line++) {
        const char *cells[N_WAITING];
        int64_t cpus;
        struct err cause;
        if (slurm_row_read(arena, &text, waiting_columns, N_WAITING, cells, err) < 0) {
            return err_prefix(err, "line %d", line);
        }
        if (conf_parse_int(cells[WAITING_CPUS], 0, UINT32_MAX, &cpus, &cause) != 0) {
            return err_set(err, ERR_BOUNDS, "line %d: NumCPUs: %s", line, cause.text);
        }
        if (waits_for_nodes(cells[WAITING_REASON]) &&
            strncmp(cells[WAITING_RESERVATION], ours, n_ours) != 0) {
            sum += cpus;
        }
    }
    *n_cpus = sum < SLOTS_MAX ? (int)sum : SLOTS_MAX;
    return 0;
}
