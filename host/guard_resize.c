/* SPDX-License-Identifier: Apache-2.0 */
/* guard_resize.c: see guard_resize.h. */
#include "host/guard_resize.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/guard_clock.h"
#include "host/guard_life.h"
#include "host/guard_process.h"

enum { COMMAND_MAX_MS = 600000 };

void guard_resize_init(struct guard_resize *resize)
{
    *resize = (struct guard_resize){.until_ms = GUARD_LIFE_NEVER};
}

void guard_resize_release(struct guard_resize *resize)
{
    free(resize->asked.bytes);
    free(resize->kept.bytes);
    guard_resize_init(resize);
}

bool guard_resize_is_on(const struct guard_resize *resize)
{
    return resize->pid != 0;
}

/* ---------------------------------------------------------------- the file */

static bool take_text(const char *item, const char *name, const char **text)
{
    size_t length = strlen(name);
    if (strncmp(item, name, length) != 0) {
        return false;
    }
    *text = item + length;
    return true;
}

static bool take_number(const char *item, const char *name, int64_t *number)
{
    const char *text;
    char *end = NULL;
    if (!take_text(item, name, &text)) {
        return false;
    }
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *number >= 0;
}

static bool take_variable(const char *item, const char *name, const char **list,
                          int *count)
{
    const char *text;
    if (!take_text(item, name, &text) || *count == GUARD_RESIZE_ENV_MAX) {
        return false;
    }
    list[(*count)++] = text;
    return true;
}

static bool take_item(struct guard_resize_file *file, const char *item)
{
    return take_number(item, "number=", &file->number) ||
           take_number(item, "n_slots=", &file->n_slots) ||
           take_text(item, "command=", &file->command) ||
           take_variable(item, "env=", file->env, &file->n_env) ||
           take_variable(item, "told=", file->told, &file->n_told);
}

/* False where it is cut, or none of ours. */
static bool parse(struct guard_resize_file *file, size_t length)
{
    const char *bytes = file->bytes;
    size_t at = strlen(RUN_DIR_RESIZE_HEAD) + 1;
    file->command = "";
    if (length < at || bytes[length - 1] != '\0' ||
        strcmp(bytes, RUN_DIR_RESIZE_HEAD) != 0) {
        return false;
    }
    while (at < length) {
        const char *item = bytes + at;
        at += strlen(item) + 1;
        if (strcmp(item, "end=") == 0) {
            return at == length;
        }
        if (!take_item(file, item)) {
            return false;
        }
    }
    return false;
}

static char *read_bytes(int dir, size_t *length)
{
    int from = openat(dir, RUN_DIR_RESIZE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    char *bytes = NULL;
    *length = 0;
    if (from >= 0 && fstat(from, &status) == 0 && status.st_size > 0 &&
        status.st_size <= GUARD_SPEC_MAX) {
        *length = (size_t)status.st_size;
        bytes = mem_alloc(*length + 1, 1);
        if (read(from, bytes, *length) != (ssize_t)*length) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (from >= 0) {
        close(from);
    }
    return bytes;
}

/* The one with that number; its bytes are the caller's. */
static bool read_file(int dir, uint64_t number, struct guard_resize_file *file)
{
    size_t length;
    *file = (struct guard_resize_file){.bytes = read_bytes(dir, &length)};
    if (file->bytes != NULL && parse(file, length) && file->number >= 0 &&
        (uint64_t)file->number == number) {
        return true;
    }
    free(file->bytes);
    file->bytes = NULL;
    return false;
}

/* ---------------------------------------------------------------- variables */

/* Of "NAME=value" in the list; -1: it is not there. */
static int find_variable(const char *const *list, int count, const char *variable)
{
    size_t length = strcspn(variable, "=") + 1;
    for (int i = 0; i < count; i++) {
        if (strncmp(list[i], variable, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int put_variable(const char **list, int count, const char *variable)
{
    int at = find_variable(list, count, variable);
    list[at < 0 ? count : at] = variable;
    return at < 0 ? count + 1 : count;
}

/* The job's variables with those of the resize, and a place behind for PWD. */
static const char **variables_of(const struct guard_spec *spec,
                                 const struct guard_resize_file *file)
{
    int count = 0;
    while (spec->env[count] != NULL) { /* the run's mark is among them */
        count++;
    }
    const char **list =
        mem_alloc((size_t)count + 2 * GUARD_RESIZE_ENV_MAX + 2, sizeof(*list));
    memcpy(list, spec->env, (size_t)count * sizeof(*list));
    for (int i = 0; i < file->n_env; i++) {
        count = put_variable(list, count, file->env[i]);
    }
    for (int i = 0; i < file->n_told; i++) {
        count = put_variable(list, count, file->told[i]);
    }
    return list;
}

/* The slots are as the file says: for commands after the job too. */
static void keep(struct guard_life *life)
{
    struct guard_resize *resize = &life->resize;
    struct guard_spec *spec = &life->spec;
    for (int i = 0; i < resize->asked.n_env; i++) {
        int at = find_variable(spec->env, spec->n_env, resize->asked.env[i]);
        if (at >= 0) {
            spec->env[at] = resize->asked.env[i];
        }
    }
    spec->n_slots = resize->asked.n_slots;
    free(resize->kept.bytes); /* every file has the same variables */
    resize->kept = resize->asked;
    resize->asked = (struct guard_resize_file){0};
}

/* ---------------------------------------------------------------- begin, end */

static void answer(struct guard_life *life, int code)
{
    life->record.resize_done = (uint64_t)life->resize.asked.number;
    life->record.resize_code = (uint64_t)code;
    if (code == 0) {
        keep(life);
    }
}

static bool may_be_told(const struct guard_life *life)
{
    return life->record.phase == RUN_RUNNING && life->course.stage == GUARD_JOB &&
           life->stop_at == GUARD_LIFE_NEVER && !life->is_draining &&
           !guard_ladder_is_on(&life->ladder) && !guard_action_is_on(&life->action);
}

/* 0 where the command runs. */
static int tell(struct guard_life *life)
{
    struct guard_resize *resize = &life->resize;
    struct guard_cgroup none = {.dir = -1};
    struct guard_job job;
    struct err err;
    const char **env = variables_of(&life->spec, &resize->asked);
    struct guard_command command = {.text = resize->asked.command, .env = env};
    int code = guard_job_fork(&job, life->dir, &life->spec, &command, &life->account,
                              &none, &err);
    if (code == 0) {
        guard_job_release(&job);
        guard_job_abandon(&job); /* that it could not begin its end tells */
        resize->pid = job.pid;
        resize->until_ms = guard_clock_now_ms() + COMMAND_MAX_MS;
        life->crew.except = job.pid;
    }
    free(env);
    return code;
}

static void begin(struct guard_life *life)
{
    if (!may_be_told(life)) {
        answer(life, RESIZE_NOT_NOW);
    } else if (life->resize.asked.command[0] == '\0') {
        answer(life, 0);
    } else if (tell(life) == 0) {
        return;
    } else {
        answer(life, RESIZE_NOT_NOW); /* no room for a process */
    }
    guard_life_publish(life);
}

void guard_resize_order(struct guard_life *life, const struct guard_order *order)
{
    struct guard_resize *resize = &life->resize;
    bool has_begun =
        life->record.phase == RUN_RUNNING || life->record.phase == RUN_SUSPENDED;
    struct guard_resize_file file;
    if (!has_begun || order->number <= life->record.resize_done ||
        guard_resize_is_on(resize) || !read_file(life->dir, order->number, &file)) {
        guard_link_push(&life->link, &life->record);
        return;
    }
    free(resize->asked.bytes);
    resize->asked = file;
    begin(life);
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void forget_command(struct guard_life *life)
{
    life->resize.pid = 0;
    life->resize.until_ms = GUARD_LIFE_NEVER;
    life->crew.except = 0;
}

bool guard_resize_ended(struct guard_life *life, pid_t pid, int status)
{
    if (life->resize.pid == 0 || pid != life->resize.pid) {
        return false;
    }
    forget_command(life);
    answer(life, code_of(status));
    guard_life_publish(life);
    return true;
}

static void kill_command(const struct guard_resize *resize)
{
    int count = 0;
    struct guard_process *list = guard_process_list(&count);
    for (int i = 0; i < count; i++) {
        if (list[i].session == resize->pid || list[i].pid == resize->pid) {
            guard_process_signal(&list[i], SIGKILL);
        }
    }
    free(list);
}

void guard_resize_expire(struct guard_life *life, int64_t now)
{
    (void)now;
    kill_command(&life->resize);
    life->resize.until_ms = GUARD_LIFE_NEVER; /* its end is waited for */
}

void guard_resize_give_up(struct guard_life *life)
{
    if (!guard_resize_is_on(&life->resize)) {
        return;
    }
    kill_command(&life->resize);
    forget_command(life); /* it is collected as any other child */
    answer(life, RESIZE_NOT_NOW);
}

void guard_resize_recall(struct guard_life *life)
{
    const struct guard_record *record = &life->record;
    if (record->resize_done != 0 && record->resize_code == 0 &&
        read_file(life->dir, record->resize_done, &life->resize.asked)) {
        keep(life);
    }
}
