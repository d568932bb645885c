/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_run.c: see slurm_run.h. */
#include "slurm/slurm_run.h"

#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_row.h"

enum { ID, CODE, USER, RESERVATION, STATUS, START, END, COMMENT, N_CELLS };

static const struct slurm_column columns[N_CELLS] = {
    [ID] = {"JobID", 16, false},         [CODE] = {"StateCompact", 8, false},
    [USER] = {"UserName", 256, false},   [RESERVATION] = {"Reservation", 256, false},
    [STATUS] = {"exit_code", 16, false}, [START] = {"StartTime", 24, false},
    [END] = {"EndTime", 24, false},      [COMMENT] = {"Comment", 512, true},
};

/* ---------------------------------------------------------------- comments */

static const char *format_comment(struct arena *arena, const char *site,
                                  const struct run_id *run)
{
    return arena_printf(arena, "sublet:%s:%s:%llu:%llu", site, run->site,
                        (unsigned long long)run->attempt,
                        (unsigned long long)run->nonce);
}

/* False: it is not a comment of ours. */
static bool parse_comment(struct arena *arena, const char *text, struct slurm_run *run)
{
    const char *words[5];
    int64_t attempt, nonce;
    char *rest = arena_str(arena, text);
    for (int i = 0; i < 5; i++) {
        words[i] = strsep(&rest, ":");
        if (words[i] == NULL) {
            return false;
        }
    }
    if (rest != NULL || conf_parse_name(words[1], NULL) != 0 ||
        conf_parse_name(words[2], NULL) != 0 ||
        conf_parse_int(words[3], 1, INT64_MAX, &attempt, NULL) != 0 ||
        conf_parse_int(words[4], 1, INT64_MAX, &nonce, NULL) != 0) {
        return false;
    }
    run->site = words[1];
    run->run = (struct run_id){
        .site = words[2], .attempt = (uint64_t)attempt, .nonce = (uint64_t)nonce};
    return strcmp(format_comment(arena, run->site, &run->run), text) == 0;
}

/* ---------------------------------------------------------------- what there is */

const char *const *slurm_run_list_command(struct arena *arena, const char *users)
{
    const char **words = arena_alloc(arena, 8, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "squeue";
    words[n_words++] = "--noheader";
    words[n_words++] = "--states=all";
    words[n_words++] = "--user";
    words[n_words++] = users;
    words[n_words++] = "--Format";
    words[n_words++] = slurm_row_format(arena, columns, N_CELLS);
    return words;
}

static bool is_one_of(const char *code, const char *const *codes)
{
    while (*codes != NULL && strcmp(*codes, code) != 0) {
        codes++;
    }
    return *codes != NULL;
}

static enum slurm_run_state state_of(const char *code)
{
    static const char *const waiting[] = {"PD", "RF", "RH", "RQ", "SE", NULL};
    static const char *const stopped[] = {"S", "ST", NULL};
    /* RD: it waited when its reservation ended, and is held for ever. */
    static const char *const ended[] = {"BF",  "CA", "CD", "DL", "F", "NF",
                                        "OOM", "PR", "RD", "TO", NULL};
    return is_one_of(code, waiting)   ? SLURM_RUN_WAITING
           : is_one_of(code, stopped) ? SLURM_RUN_STOPPED
           : is_one_of(code, ended)   ? SLURM_RUN_ENDED
                                      : SLURM_RUN_RUNNING;
}

static int read_number(const char *const *cells, int cell, int64_t max, int64_t *number,
                       struct err *err)
{
    struct err cause;
    if (conf_parse_int(cells[cell], 0, max, number, &cause) != 0) {
        return err_set(err, ERR_BOUNDS, "%s: %s", columns[cell].field, cause.text);
    }
    return 0;
}

static int read_times(const char *const *cells, struct slurm_run *run, struct err *err)
{
    int rc = 0;
    if (run->state != SLURM_RUN_WAITING && cells[START][0] != '\0') {
        rc = read_number(cells, START, INT64_MAX, &run->start_s, err);
    }
    if (rc == 0 && run->state == SLURM_RUN_ENDED && cells[END][0] != '\0') {
        rc = read_number(cells, END, INT64_MAX, &run->end_s, err);
    }
    return rc;
}

/* `is_run` is false for a job that is no run. */
static int read_run(struct arena *arena, const char **text, struct slurm_run *run,
                    bool *is_run, struct err *err)
{
    const char *cells[N_CELLS];
    int64_t status;
    int rc = slurm_row_read(arena, text, columns, N_CELLS, cells, err);
    *is_run = rc == 0 && parse_comment(arena, cells[COMMENT], run);
    if (!*is_run) {
        return rc;
    }
    run->user = cells[USER];
    run->reservation = cells[RESERVATION];
    run->code = cells[CODE];
    run->state = state_of(run->code);
    rc = read_number(cells, ID, UINT32_MAX, &run->job_id, err);
    if (rc == 0) {
        rc = read_number(cells, STATUS, UINT16_MAX, &status, err);
    }
    if (rc == 0) {
        run->wait_status = (int)status;
        rc = read_times(cells, run, err);
    }
    return rc;
}

int slurm_run_read(struct arena *arena, const char *text, struct slurm_runs *runs,
                   struct err *err)
{
    struct slurm_runs made = {.count = 0};
    int n_lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        n_lines++;
    }
    made.items = arena_alloc(arena, (size_t)n_lines + 1, sizeof(*made.items));
    for (n_lines = 1; *text != '\0'; n_lines++) {
        struct slurm_run run = {.job_id = 0};
        bool is_run;
        if (n_lines > JOBS_MAX) {
            return err_set(err, ERR_BOUNDS, "more than %d jobs", JOBS_MAX);
        }
        if (read_run(arena, &text, &run, &is_run, err) < 0) {
            return err_prefix(err, "job %d of the list", n_lines);
        }
        if (is_run) {
            made.items[made.count++] = run;
        }
    }
    *runs = made;
    return 0;
}

const struct slurm_run *slurm_run_find(const struct slurm_runs *runs, const char *site,
                                       const struct run_id *run, const char *user)
{
    const struct slurm_run *found = NULL;
    for (int i = 0; i < runs->count; i++) {
        const struct slurm_run *item = &runs->items[i];
        if (item->run.attempt == run->attempt && item->run.nonce == run->nonce &&
            strcmp(item->run.site, run->site) == 0 && strcmp(item->site, site) == 0 &&
            strcmp(item->user, user) == 0 &&
            (found == NULL || item->job_id < found->job_id)) {
            found = item;
        }
    }
    return found;
}

/* ---------------------------------------------------------------- what to do */

const char *const *slurm_run_submit_command(struct arena *arena,
                                            const struct slurm_run_order *order)
{
    const char **words = arena_alloc(arena, 24, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "sbatch";
    words[n_words++] = "--parsable";
    words[n_words++] = "--no-requeue";
    words[n_words++] = "--export=NIL";
    words[n_words++] = "--chdir=/";
    words[n_words++] = "--job-name=sublet";
    words[n_words++] = order->limit_min > 0 ? arena_printf(arena, "--time=%lld",
                                                           (long long)order->limit_min)
                                            : "--time=UNLIMITED";
    words[n_words++] = "--nodes=1";
    words[n_words++] = "--ntasks=1";
    words[n_words++] = arena_printf(arena, "--cpus-per-task=%d", order->n_slots);
    words[n_words++] = arena_printf(arena, "--nodelist=%s", order->node);
    words[n_words++] = arena_printf(arena, "--reservation=%s", order->reservation);
    if (order->user[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--uid=%s", order->user);
        words[n_words++] = arena_printf(arena, "--gid=%s", order->group);
    }
    if (order->mem_mib > 0) {
        words[n_words++] =
            arena_printf(arena, "--mem=%lldM", (long long)order->mem_mib);
    }
    words[n_words++] = arena_printf(arena, "--output=%s", order->output);
    words[n_words++] = arena_printf(arena, "--error=%s", order->error);
    words[n_words++] = arena_printf(arena, "--comment=%s",
                                    format_comment(arena, order->site, &order->run));
    if (order->partition[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--partition=%s", order->partition);
    }
    if (order->account[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--account=%s", order->account);
    }
    words[n_words++] = order->script;
    return words;
}

const char *const *slurm_run_signal_command(struct arena *arena, int64_t job_id,
                                            const char *name)
{
    const char **words = arena_alloc(arena, 5, sizeof(*words));
    words[0] = "scancel";
    words[1] = "--full";
    words[2] = arena_printf(arena, "--signal=%s", name);
    words[3] = arena_printf(arena, "%lld", (long long)job_id);
    return words;
}

const char *const *slurm_run_kill_command(struct arena *arena, int64_t job_id)
{
    const char **words = arena_alloc(arena, 3, sizeof(*words));
    words[0] = "scancel";
    words[1] = arena_printf(arena, "%lld", (long long)job_id);
    return words;
}
