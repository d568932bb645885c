/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_run.c: see simulate.h. */
#include <czmq.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/simulate/simulate.h"
#include "sys/daemon.h"
#include "sys/json.h"

enum {
    FILE_BYTES_MAX = 1 << 30, /* enough for a trace of millions of jobs */
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_EVERY_MS = 200,
};

/* ---------------------------------------------------------------- files */

static int read_open(FILE *file, const char *path, char **text, size_t *length,
                     struct err *err)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0) {
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return err_set(err, ERR_IO, "%s: not a file, expected one", path);
    }
    if (status.st_size > FILE_BYTES_MAX) {
        return err_set(err, ERR_BOUNDS, "%s: too large, expected at most 1 GiB", path);
    }
    *text = mem_alloc((size_t)status.st_size + 1, 1);
    *length = fread(*text, 1, (size_t)status.st_size, file);
    if (ferror(file)) {
        free(*text);
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    }
    return 0;
}

static int read_file(const char *path, char **text, size_t *length, struct err *err)
{
    struct stat status;
    /* Opening a FIFO would block. */
    if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode)) {
        return err_set(err, ERR_IO, "%s: not a file, expected one", path);
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    }
    int rc = read_open(file, path, text, length, err);
    fclose(file);
    return rc;
}

/* The texts live in the arena of the call. */
static int read_for_scenario(void *arg, const char *path, const char **text,
                             size_t *length, struct err *err)
{
    struct arena *arena = arg;
    char *read;
    int rc = read_file(path, &read, length, err);
    if (rc == 0) {
        *text = arena_strn(arena, read, *length);
        free(read);
    }
    return rc;
}

static void read_conf(void *arg, const char *path, struct conf *conf)
{
    char *copy = arena_str(arg, path);
    daemon_conf_read(conf, &copy, 1);
}

int simulate_run_read(struct simulate_run *run)
{
    struct arena arena;
    struct scenario_files files = {read_for_scenario, read_conf, &arena};
    struct err err;
    char *text;
    size_t length;
    if (read_file(run->file, &text, &length, &err) != 0) {
        call_fail_err(&err);
        return CALL_MISUSED;
    }
    arena_init(&arena);
    run->scenario = scenario_read(run->file, text, length, &files);
    arena_release(&arena);
    free(text);
    daemon_conf_print_diags(&run->scenario->conf, stderr);
    if (run->scenario->conf.n_errors > 0) {
        call_say("simulate: %d error%s in %s, nothing ran",
                 run->scenario->conf.n_errors,
                 run->scenario->conf.n_errors == 1 ? "" : "s", run->file);
        return CALL_MISUSED;
    }
    return CALL_OK;
}

/* ---------------------------------------------------------------- while it runs */

static void write_event(void *arg, const struct value *event)
{
    struct simulate_run *run = arg;
    char *text = json_render(event);
    fprintf(run->events, "%s\n", text);
    free(text);
}

/* Records the last level of each instant. */
static void note_level(void *arg, int site, const struct summary_level *level,
                       int64_t now_ms)
{
    struct simulate_curve *curve = &((struct simulate_run *)arg)->curves[site];
    if (curve->count > 0 && curve->samples[curve->count - 1].at_ms == now_ms) {
        curve->count--;
    }
    if (curve->count == curve->capacity) {
        curve->capacity = curve->capacity == 0 ? 256 : 2 * curve->capacity;
        curve->samples = mem_grow(curve->samples, (size_t)curve->capacity,
                                  sizeof(curve->samples[0]));
    }
    curve->samples[curve->count++] = (struct simulate_sample){now_ms, *level};
}

static void write_line(void *arg, int64_t now_ms, const char *line)
{
    (void)arg;
    fprintf(stderr, "%12.3f %s\n", (double)now_ms / 1000, line);
}

static void show_progress(void *arg, int64_t now_ms, int64_t until_ms)
{
    struct simulate_run *run = arg;
    int64_t at_ms = zclock_mono();
    if (at_ms - run->begun_ms < PROGRESS_AFTER_MS ||
        at_ms - run->shown_ms < PROGRESS_EVERY_MS) {
        return;
    }
    run->shown_ms = at_ms;
    run->is_shown = true;
    fprintf(stderr, "\r%s: %3d %%, %.1f of %.1f hours", run->file,
            until_ms > 0 ? (int)(100 * now_ms / until_ms) : 100,
            (double)now_ms / 3600000, (double)until_ms / 3600000);
}

static void clear_progress(const struct simulate_run *run)
{
    if (run->is_shown) {
        fputs("\r\033[K", stderr);
    }
}

/* ---------------------------------------------------------------- the run */

static void print_remarks(const struct simulate_run *run)
{
    for (const struct play_remark *remark = play_remarks(run->play); remark != NULL;
         remark = remark->next) {
        call_say("%s:%d: %s: %s", run->scenario->file, remark->line,
                 remark->is_note ? "note" : "failed", remark->text);
    }
}

static json_t *show_summary(const struct simulate_run *run)
{
    struct arena arena;
    arena_init(&arena);
    char *text = json_render(summary_show(play_summary(run->play), &arena, run->seed,
                                          run->scenario->until_ms));
    json_t *summary = json_loads(text, 0, NULL);
    free(text);
    arena_release(&arena);
    return summary;
}

static void write_usage(const struct simulate_run *run)
{
    struct arena arena;
    arena_init(&arena);
    char *text = json_render(play_usage(run->play, &arena));
    fprintf(run->usage, "%s\n", text);
    free(text);
    arena_release(&arena);
}

int simulate_run_play(struct simulate_run *run)
{
    struct play_options options = {
        .seed = run->seed,
        .on_event = run->events != NULL ? write_event : NULL,
        .on_level = run->with_curves ? note_level : NULL,
        .with_usage = run->usage != NULL,
        .on_progress = isatty(STDERR_FILENO) ? show_progress : NULL,
        .on_line = run->with_log ? write_line : NULL,
        .arg = run,
    };
    run->curves = mem_alloc((size_t)run->scenario->n_sites + 1, sizeof(run->curves[0]));
    run->begun_ms = zclock_mono();
    run->play = play_new(run->scenario, &options);
    enum play_end end = play_run(run->play);
    clear_progress(run);
    print_remarks(run);
    run->summary = show_summary(run);
    if (run->usage != NULL) {
        write_usage(run);
    }
    if (end == PLAY_VIOLATED) {
        call_say("%s: an invariant is violated: %s", run->file,
                 play_violation(run->play));
        return SIMULATE_VIOLATED;
    }
    return end == PLAY_FAILED ? CALL_FAILED : CALL_OK;
}

void simulate_run_release(struct simulate_run *run)
{
    for (int i = 0; run->curves != NULL && i < run->scenario->n_sites; i++) {
        free(run->curves[i].samples);
    }
    free(run->curves);
    play_free(run->play);
    scenario_free(run->scenario);
    json_decref(run->summary);
}
