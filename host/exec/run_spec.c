/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec.c: see exec.h. */
#include "host/exec/exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/fnv1a.h"

enum { ENV_ADDED_MAX = 16 }; /* what sublet-host adds to the variables of the job */

enum kind { TEXT, NUMBER, FLAG };

static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} fields[] = {
    {"run", TEXT, offsetof(struct run_spec, run)},
    {"account", TEXT, offsetof(struct run_spec, account)},
    {"user", TEXT, offsetof(struct run_spec, user)},
    {"command", TEXT, offsetof(struct run_spec, command)},
    {"cwd", TEXT, offsetof(struct run_spec, cwd)},
    {"in_file", TEXT, offsetof(struct run_spec, in_file)},
    {"out_file", TEXT, offsetof(struct run_spec, out_file)},
    {"err_file", TEXT, offsetof(struct run_spec, err_file)},
    {"cgroup", TEXT, offsetof(struct run_spec, cgroup)},
    {"memory", TEXT, offsetof(struct run_spec, memory)},
    {"cpus", TEXT, offsetof(struct run_spec, cpus)},
    {"mem_nodes", TEXT, offsetof(struct run_spec, mem_nodes)},
    {"is_mem_strict", FLAG, offsetof(struct run_spec, is_mem_strict)},
    {"is_leased", FLAG, offsetof(struct run_spec, is_leased)},
    {"keeps_err", FLAG, offsetof(struct run_spec, keeps_err)},
    {"keeps_out", FLAG, offsetof(struct run_spec, keeps_out)},
    {"replaces_out", FLAG, offsetof(struct run_spec, replaces_out)},
    {"replaces_err", FLAG, offsetof(struct run_spec, replaces_err)},
    {"report_ms", NUMBER, offsetof(struct run_spec, report_ms)},
    {"private_view", NUMBER, offsetof(struct run_spec, private_view)},
    {"interaction", NUMBER, offsetof(struct run_spec, interaction)},
    {"umask", NUMBER, offsetof(struct run_spec, umask)},
    {"n_slots", NUMBER, offsetof(struct run_spec, n_slots)},
    {"run_limit_ms", NUMBER, offsetof(struct run_spec, run_limit_ms)},
    {"end_within_ms", NUMBER, offsetof(struct run_spec, end_within_ms)},
    {"wait_ms", NUMBER, offsetof(struct run_spec, wait_ms)},
    {"grace_ms", NUMBER, offsetof(struct run_spec, grace_ms)},
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void set_defaults(struct run_spec *spec)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (fields[i].kind == TEXT) {
            const char *empty = "";
            memcpy((char *)spec + fields[i].offset, &empty, sizeof(empty));
        }
    }
}

static bool take_number(const char *value, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(value, &end, 10);
    *number = parsed;
    return errno == 0 && end != value && *end == '\0' && parsed >= 0;
}

static bool take_field(struct run_spec *spec, const char *name, size_t length,
                       const char *value)
{
    for (size_t i = 0; i < FIELDS; i++) {
        char *to = (char *)spec + fields[i].offset;
        if (strlen(fields[i].name) != length ||
            memcmp(fields[i].name, name, length) != 0) {
            continue;
        }
        int64_t number = 0;
        if (fields[i].kind == TEXT) {
            memcpy(to, &value, sizeof(value));
            return true;
        }
        if (!take_number(value, &number)) {
            return false;
        }
        if (fields[i].kind == NUMBER) {
            memcpy(to, &number, sizeof(number));
        } else {
            *(bool *)to = number != 0;
        }
        return true;
    }
    return false;
}

static bool is_name(const char *item, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(item, name, length) == 0;
}

static bool take_command(const char **list, int *n_list, const char *command)
{
    if (*n_list == EXEC_COMMANDS_MAX) {
        return false;
    }
    list[(*n_list)++] = command;
    return true;
}

static bool take_limit(struct job_rlimits *limits, const char *text)
{
    struct job_rlimits one;
    if (job_rlimits_read(&text, 1, &one, NULL) != 0) {
        return false;
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        limits->values[i] =
            one.values[i] != JOB_RLIMIT_NONE ? one.values[i] : limits->values[i];
    }
    return true;
}

static bool take_control(struct run_spec *spec, const char *text)
{
    enum job_control action;
    const char *what = job_control_parse(text, &action);
    if (what != NULL) {
        spec->controls[action] = what;
    }
    return what != NULL;
}

static bool take_item(struct run_spec *spec, const char *item)
{
    const char *equals = strchr(item, '=');
    if (equals == NULL) {
        return false;
    }
    size_t length = (size_t)(equals - item);
    const char *value = equals + 1;
    if (is_name(item, length, "env")) {
        if (spec->n_env == ENV_MAX + ENV_ADDED_MAX) {
            return false;
        }
        spec->env[spec->n_env++] = value;
        return true;
    }
    if (is_name(item, length, "limit")) {
        return take_limit(&spec->limits, value);
    }
    if (is_name(item, length, "pre_exec")) {
        return take_command(spec->pre_execs, &spec->n_pre_execs, value);
    }
    if (is_name(item, length, "post_exec")) {
        return take_command(spec->post_execs, &spec->n_post_execs, value);
    }
    if (is_name(item, length, "control")) {
        return take_control(spec, value);
    }
    return take_field(spec, item, length, value);
}

/* An upper bound of the number of variables. */
static size_t count_items(const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += bytes[i] == '\0';
    }
    return count;
}

/* ---- from the message to the file */

static int take_commands(const char *const *commands, int n_commands, const char **list,
                         int *n_list, struct err *err)
{
    for (int i = 0; i < n_commands; i++) {
        if (!take_command(list, n_list, commands[i])) {
            return err_set(err, ERR_BOUNDS, "the run has more than %d commands",
                           EXEC_COMMANDS_MAX);
        }
    }
    return 0;
}

static int take_controls(struct run_spec *spec, const struct job_spec *from,
                         struct err *err)
{
    for (int i = 0; i < from->n_controls; i++) {
        if (!take_control(spec, from->controls[i])) {
            return err_set(err, ERR_PARSE, "bad job control \"%.40s\"",
                           from->controls[i]);
        }
    }
    return 0;
}

int run_spec_from_start(struct run_spec *spec, const struct msg_run_start *start,
                        struct err *err)
{
    const struct job_spec *from = &start->spec;
    bool is_leased = start->lease[0] != '\0';
    *spec = (struct run_spec){
        .is_leased = is_leased,
        .keeps_err = is_leased && from->err_file[0] != '\0',
        .keeps_out = is_leased && from->interaction != INTERACTION_NONE &&
                     from->out_file[0] != '\0',
        .replaces_out = from->replaces_out,
        .replaces_err = from->replaces_err,
        .report_ms = from->report_ms,
        .interaction = from->interaction,
        .umask = from->umask,
        .n_slots = from->n_slots,
        .run_limit_ms = from->run_limit_ms,
        .end_within_ms = start->end_within_ms,
        .grace_ms = start->terminate_ms,
        .limits = job_rlimits_none(),
    };
    set_defaults(spec);
    spec->account = start->account;
    spec->user = from->user;
    spec->command = from->command;
    spec->cwd = is_leased ? "" : from->cwd;
    int code = job_rlimits_read(from->limits, from->n_limits, &spec->limits, err);
    if (code == 0) {
        code = take_commands(from->pre_execs, from->n_pre_execs, spec->pre_execs,
                             &spec->n_pre_execs, err);
    }
    if (code == 0) {
        code = take_commands(from->post_execs, from->n_post_execs, spec->post_execs,
                             &spec->n_post_execs, err);
    }
    return code == 0 ? take_controls(spec, from, err) : code;
}

/* Fields with their default are left out. */
static void visit_field(const struct run_spec *spec, size_t i, run_spec_visit_fn visit,
                        void *arg)
{
    const char *from = (const char *)spec + fields[i].offset;
    const char *text = "";
    char digits[24];
    int64_t number = 0;
    if (fields[i].kind == TEXT) {
        memcpy(&text, from, sizeof(text));
    } else if (fields[i].kind == NUMBER) {
        memcpy(&number, from, sizeof(number));
    } else {
        number = *(const bool *)from;
    }
    if (number != 0) {
        snprintf(digits, sizeof(digits), "%" PRId64, number);
        text = digits;
    }
    if (text[0] != '\0') {
        visit(arg, fields[i].name, NULL, text);
    }
}

void run_spec_visit(const struct run_spec *spec, run_spec_visit_fn visit, void *arg)
{
    for (size_t i = 0; i < FIELDS; i++) {
        visit_field(spec, i, visit, arg);
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        if (spec->limits.values[i] != JOB_RLIMIT_NONE) {
            char value[JOB_RLIMIT_TEXT_SIZE];
            snprintf(value, sizeof(value), "%" PRId64, spec->limits.values[i]);
            visit(arg, "limit", job_rlimit_kinds[i].name, value);
        }
    }
    for (int i = 0; i < spec->n_pre_execs; i++) {
        visit(arg, "pre_exec", NULL, spec->pre_execs[i]);
    }
    for (int i = 0; i < spec->n_post_execs; i++) {
        visit(arg, "post_exec", NULL, spec->post_execs[i]);
    }
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        if (spec->controls[i] != NULL) {
            visit(arg, "control", job_control_name((enum job_control)i),
                  spec->controls[i]);
        }
    }
}

/* `end`: the item "end=SUM". A sublet-host of before writes no sum, and nothing behind
 * it. */
static bool is_undamaged(const char *bytes, const char *end, bool is_last)
{
    char expected[RUN_SPEC_END_SIZE];
    run_spec_end(expected, bytes, (size_t)(end - bytes));
    return (is_last && strcmp(end, "end=") == 0) || strcmp(end, expected) == 0;
}

void run_spec_end(char end[RUN_SPEC_END_SIZE], const char *bytes, size_t length)
{
    snprintf(end, RUN_SPEC_END_SIZE, "end=%016" PRIx64,
             fnv1a(FNV1A_START, bytes, length));
}

/* The item at `at`, which is moved behind it; NULL if there is no whole one. */
static const char *next_item(const char *bytes, size_t length, size_t *at)
{
    const char *item = bytes + *at;
    const char *nul = *at < length ? memchr(item, '\0', length - *at) : NULL;
    if (nul == NULL) {
        return NULL;
    }
    *at = (size_t)(nul - bytes) + 1;
    return item;
}

static bool is_end(const char *item)
{
    return strncmp(item, "end=", 4) == 0;
}

size_t run_spec_length(const char *bytes, size_t length)
{
    const char *item;
    size_t at = 0;
    while ((item = next_item(bytes, length, &at)) != NULL) {
        if (is_end(item)) {
            return at;
        }
    }
    return 0;
}

int run_spec_parse(char *bytes, size_t length, struct run_spec *spec, struct err *err)
{
    memset(spec, 0, sizeof(*spec));
    set_defaults(spec);
    spec->bytes = bytes;
    spec->limits = job_rlimits_none();
    spec->env = mem_alloc(count_items(bytes, length) + RUN_SPEC_ENV_FREE + 1,
                          sizeof(*spec->env));
    size_t at = 0;
    const char *item = next_item(bytes, length, &at);
    if (item == NULL || strcmp(item, RUN_SPEC_HEAD) != 0) {
        return err_set(err, ERR_PARSE, "the run's spec is cut or no spec");
    }
    while ((item = next_item(bytes, length, &at)) != NULL) {
        if (is_end(item)) {
            return is_undamaged(bytes, item, at == length)
                       ? 0
                       : err_set(err, ERR_PARSE, "the run's spec is damaged");
        }
        if (!take_item(spec, item)) {
            return err_set(err, ERR_PARSE, "the run's spec has a bad item \"%.40s\"",
                           item);
        }
    }
    return err_set(err, ERR_PARSE, "the run's spec ends early");
}

void run_spec_release(struct run_spec *spec)
{
    free(spec->bytes);
    free(spec->env);
    memset(spec, 0, sizeof(*spec));
}

/* ---- a request to resize */

static bool take_text(const char *item, const char *name, const char **text)
{
    size_t length = strlen(name);
    if (strncmp(item, name, length) != 0) {
        return false;
    }
    *text = item + length;
    return true;
}

static bool take_variable(const char *item, const char *name, const char **list,
                          int *count)
{
    return *count < RUN_SPEC_RESIZE_ENV_MAX && take_text(item, name, &list[*count]) &&
           ++*count > 0;
}

static bool take_resize_item(struct resize_request *request, const char *item)
{
    const char *value;
    if (take_text(item, "number=", &value)) {
        return take_number(value, &request->number);
    }
    if (take_text(item, "n_slots=", &value)) {
        return take_number(value, &request->n_slots);
    }
    return take_text(item, "command=", &request->command) ||
           take_variable(item, "env=", request->env, &request->n_env) ||
           take_variable(item, "told=", request->command_env, &request->n_command_env);
}

bool run_spec_parse_resize(struct resize_request *request, size_t length)
{
    const char *bytes = request->bytes;
    size_t at = strlen(RUN_SPEC_RESIZE_HEAD) + 1;
    request->command = "";
    if (length < at || bytes[length - 1] != '\0' ||
        strcmp(bytes, RUN_SPEC_RESIZE_HEAD) != 0) {
        return false;
    }
    while (at < length) {
        const char *item = bytes + at;
        at += strlen(item) + 1;
        if (strncmp(item, "end=", 4) == 0) {
            return at == length && is_undamaged(bytes, item, true);
        }
        if (!take_resize_item(request, item)) {
            return false;
        }
    }
    return false;
}
