/* SPDX-License-Identifier: Apache-2.0 */
/* resize_command.c: see resize_command.h. */
#include "host/guard/resize_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/guard/guard_run.h"
#include "host/kernel/kernel_clock.h"
#include "host/kernel/process.h"

enum { COMMAND_MAX_MS = 600000 };

void resize_command_init(struct resize_command *resize)
{
    *resize = (struct resize_command){.until_ms = GUARD_RUN_NEVER};
}

void resize_command_release(struct resize_command *resize)
{
    free(resize->asked.bytes);
    free(resize->kept.bytes);
    resize_command_init(resize);
}

bool resize_command_is_running(const struct resize_command *resize)
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
    if (!take_text(item, name, &text) || *count == RESIZE_REQUEST_ENV_MAX) {
        return false;
    }
    list[(*count)++] = text;
    return true;
}

static bool take_item(struct resize_request *file, const char *item)
{
    return take_number(item, "number=", &file->number) ||
           take_number(item, "n_slots=", &file->n_slots) ||
           take_text(item, "command=", &file->command) ||
           take_variable(item, "env=", file->env, &file->n_env) ||
           take_variable(item, "told=", file->told, &file->n_told);
}

/* False where it is cut, or none of ours. */
static bool parse(struct resize_request *file, size_t length)
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
        status.st_size <= RUN_SPEC_MAX) {
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
static bool read_file(int dir, uint64_t number, struct resize_request *file)
{
    size_t length;
    *file = (struct resize_request){.bytes = read_bytes(dir, &length)};
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
static const char **variables_of(const struct run_spec *spec,
                                 const struct resize_request *file)
{
    int count = 0;
    while (spec->env[count] != NULL) { /* the run's mark is among them */
        count++;
    }
    const char **list =
        mem_alloc((size_t)count + 2 * RESIZE_REQUEST_ENV_MAX + 2, sizeof(*list));
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
static void keep(struct guard_run *life)
{
    struct resize_command *resize = &life->resize;
    struct run_spec *spec = &life->spec;
    for (int i = 0; i < resize->asked.n_env; i++) {
        int at = find_variable(spec->env, spec->n_env, resize->asked.env[i]);
        if (at >= 0) {
            spec->env[at] = resize->asked.env[i];
        }
    }
    spec->n_slots = resize->asked.n_slots;
    free(resize->kept.bytes); /* every file has the same variables */
    resize->kept = resize->asked;
    resize->asked = (struct resize_request){0};
}

/* ---------------------------------------------------------------- begin, end */

static void answer(struct guard_run *life, int code)
{
    life->record.resize_done = (uint64_t)life->resize.asked.number;
    life->record.resize_code = (uint64_t)code;
    if (code == 0) {
        keep(life);
    }
}

static bool may_be_told(const struct guard_run *life)
{
    return life->record.phase == RUN_RUNNING && life->course.stage == STAGE_JOB &&
           life->stop_at == GUARD_RUN_NEVER && !life->is_draining &&
           !escalation_is_on(&life->ladder) &&
           !control_command_is_running(&life->action);
}

/* 0 where the command runs. */
static int tell(struct guard_run *life)
{
    struct resize_command *resize = &life->resize;
    struct cgroup none = {.dir = -1};
    struct launched job;
    struct err err;
    const char **env = variables_of(&life->spec, &resize->asked);
    struct launch_command command = {.text = resize->asked.command, .env = env};
    int code = launch_fork(&job, life->dir, &life->spec, &command, &life->account,
                           &none, &err);
    if (code == 0) {
        launch_release(&job);
        launch_abandon(&job); /* that it could not begin its end tells */
        resize->pid = job.pid;
        resize->until_ms = kernel_clock_now_ms() + COMMAND_MAX_MS;
        life->crew.except = job.pid;
    }
    free(env);
    return code;
}

static void begin(struct guard_run *life)
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
    guard_run_publish(life);
}

void resize_command_request(struct guard_run *life, const struct guard_request *order)
{
    struct resize_command *resize = &life->resize;
    bool has_begun =
        life->record.phase == RUN_RUNNING || life->record.phase == RUN_SUSPENDED;
    struct resize_request file;
    if (!has_begun || order->number <= life->record.resize_done ||
        resize_command_is_running(resize) ||
        !read_file(life->dir, order->number, &file)) {
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

static void forget_command(struct guard_run *life)
{
    life->resize.pid = 0;
    life->resize.until_ms = GUARD_RUN_NEVER;
    life->crew.except = 0;
}

bool resize_command_ended(struct guard_run *life, pid_t pid, int status)
{
    if (life->resize.pid == 0 || pid != life->resize.pid) {
        return false;
    }
    forget_command(life);
    answer(life, code_of(status));
    guard_run_publish(life);
    return true;
}

static void kill_command(const struct resize_command *resize)
{
    int count = 0;
    struct process *list = process_list(&count);
    for (int i = 0; i < count; i++) {
        if (list[i].session == resize->pid || list[i].pid == resize->pid) {
            process_signal(&list[i], SIGKILL);
        }
    }
    free(list);
}

void resize_command_expire(struct guard_run *life, int64_t now)
{
    (void)now;
    kill_command(&life->resize);
    life->resize.until_ms = GUARD_RUN_NEVER; /* its end is waited for */
}

void resize_command_abandon(struct guard_run *life)
{
    if (!resize_command_is_running(&life->resize)) {
        return;
    }
    kill_command(&life->resize);
    forget_command(life); /* it is collected as any other child */
    answer(life, RESIZE_NOT_NOW);
}

void resize_command_reload(struct guard_run *life)
{
    const struct guard_record *record = &life->record;
    if (record->resize_done != 0 && record->resize_code == 0 &&
        read_file(life->dir, record->resize_done, &life->resize.asked)) {
        keep(life);
    }
}
