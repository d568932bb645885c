/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_script.c: see slurm_script.h. */
#include "slurm/slurm_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"
#include "host/exec/exec.h"

/* A longer list of hosts is left empty: the kernel allows 128 KiB for a variable. */
enum { HOSTS_VARIABLE_MAX = 65536 };

/* The text grows in a heap buffer, which the caller frees. */
struct writer {
    char *text;
    size_t length, size;
};

static void put_bytes(struct writer *to, const char *bytes, size_t length)
{
    if (to->length + length + 1 > to->size) {
        to->size = 2 * (to->length + length + 1);
        to->text = mem_grow(to->text, to->size, 1);
    }
    memcpy(to->text + to->length, bytes, length);
    to->length += length;
    to->text[to->length] = '\0';
}

static void put(struct writer *to, const char *text)
{
    put_bytes(to, text, strlen(text));
}

/* One word of the shell, whatever bytes it has. */
static void put_quoted(struct writer *to, const char *text, size_t length)
{
    put(to, "'");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'') {
            put(to, "'\\''");
        } else {
            put_bytes(to, &text[i], 1);
        }
    }
    put(to, "'");
}

static void put_word(struct writer *to, const char *text)
{
    put_quoted(to, text, strlen(text));
}

/* ---------------------------------------------------------------- variables */

static bool is_name(const char *text, size_t length)
{
    bool is_good = length > 0 && !(text[0] >= '0' && text[0] <= '9');
    for (size_t i = 0; i < length; i++) {
        is_good = is_good && (text[i] == '_' || (text[i] >= '0' && text[i] <= '9') ||
                              (text[i] >= 'A' && text[i] <= 'Z') ||
                              (text[i] >= 'a' && text[i] <= 'z'));
    }
    return is_good;
}

/* "NAME=value"; a shell has no variable with another name, such as an exported function
 * of bash, and it is left out. */
static void put_variable(struct writer *to, const char *variable)
{
    size_t length = strcspn(variable, "=");
    if (variable[length] == '=' && is_name(variable, length)) {
        put(to, "export ");
        put_bytes(to, variable, length + 1);
        put_word(to, variable + length + 1);
        put(to, "\n");
    }
}

static void put_assigned(struct writer *to, const char *name, const char *value,
                         size_t length)
{
    put(to, "export ");
    put(to, name);
    put(to, "=");
    put_quoted(to, value, length);
    put(to, "\n");
}

static void put_hosts(struct writer *to, struct arena *arena,
                      const struct msg_run_start *start)
{
    const char *host = start->hosts[0].host;
    int n_slots = start->hosts[0].n_slots;
    size_t length = (strlen(host) + 1) * (size_t)n_slots;
    put(to, "export LSB_HOSTS='");
    for (int i = 0; i < n_slots && length <= HOSTS_VARIABLE_MAX; i++) {
        put(to, i > 0 ? " " : "");
        put(to, host);
    }
    put(to, "'\n");
    put(to, arena_printf(arena,
                         "export LSB_MCPU_HOSTS='%s %d'\nexport LSB_DJOB_NUMPROC=%d\n",
                         host, n_slots, n_slots));
}

/* Of "12[3]" the id, and the index of the element. */
static void put_job(struct writer *to, const struct msg_run_start *start)
{
    const char *job = start->job;
    size_t n_id = strcspn(job, "[");
    bool is_element = job[n_id] == '[';
    const char *index = is_element ? job + n_id + 1 : "0";
    put_assigned(to, "LSB_JOBID", job, n_id);
    put_assigned(to, "LSB_BATCH_JID", job, strlen(job));
    put_assigned(to, "LSB_JOBINDEX", index, strcspn(index, "]"));
    put_assigned(to, "LSB_JOBNAME", start->spec.name, strlen(start->spec.name));
    put_assigned(to, "LSB_QUEUE", start->spec.queue, strlen(start->spec.queue));
    put_assigned(to, "SUBLET_LEASE", start->lease, strlen(start->lease));
}

/* The user's own variables, and those of the account. */
static void put_environment(struct writer *to, struct arena *arena,
                            const struct msg_run_start *start,
                            const struct slurm_script_account *account)
{
    struct run_spec spec = {.n_env = start->spec.n_env};
    size_t n_env = (size_t)start->spec.n_env;
    struct user_env own;
    spec.env = arena_alloc(arena, n_env + RUN_SPEC_ENV_FREE, sizeof(*spec.env));
    for (size_t i = 0; i < n_env; i++) {
        spec.env[i] = start->spec.env[i];
    }
    user_env_apply(&own, &spec, account->name, account->home, account->shell);
    for (int i = 0; i < spec.n_env; i++) {
        put_variable(to, spec.env[i]);
    }
    user_env_release(&own);
    put_job(to, start);
    put_hosts(to, arena, start);
}

/* ---------------------------------------------------------------- limits */

/* Those that a shell can set; a limit of memory or processes is Slurm's to enforce. */
static int put_limits(struct writer *to, struct arena *arena,
                      const struct msg_run_start *start, struct err *err)
{
    static const struct {
        enum job_rlimit kind;
        char option;
        int64_t unit; /* of the shell's, in the limit's */
    } rows[] = {
        {JOB_RLIMIT_CPU, 't', 1000},
        {JOB_RLIMIT_STACK, 's', 1},
        {JOB_RLIMIT_DATA, 'd', 1},
    };
    struct job_rlimits limits;
    int rc = job_rlimits_read(start->spec.limits, start->spec.n_limits, &limits, err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rc == 0; i++) {
        int64_t value = limits.values[rows[i].kind];
        if (value != JOB_RLIMIT_NONE) {
            put(to,
                arena_printf(arena, "ulimit -%c %lld\n", rows[i].option,
                             (long long)((value + rows[i].unit - 1) / rows[i].unit)));
        }
    }
    return rc;
}

/* ---------------------------------------------------------------- script */

static void put_command(struct writer *to, const char *command, const char *files)
{
    put(to, "/bin/sh -c ");
    put_word(to, command);
    put(to, files);
}

/* Each command runs if the ones before have succeeded. */
static void put_pre_execs(struct writer *to, const struct msg_run_start *start)
{
    for (int i = 0; i < start->spec.n_pre_execs; i++) {
        put_command(to, start->spec.pre_execs[i], " >/dev/null 2>&1");
        put(to, " || { status=$?; sublet_end pre_exec $status; exit $status; }\n");
    }
}

static void put_post_execs(struct writer *to, const struct msg_run_start *start)
{
    if (start->spec.n_post_execs == 0) {
        return;
    }
    put(to,
        "(\nsublet_environment\npost=0\n"
        "export LSB_JOBEXIT_STAT=$((status > 128 ? status - 128 : status * 256))\n");
    for (int i = 0; i < start->spec.n_post_execs; i++) {
        put_command(to, start->spec.post_execs[i], " || post=1\n");
    }
    put(to, "exit $post\n"
            ") </dev/null >/dev/null 2>&1 || sublet_post=' post_error'\n");
}

/* The script's own functions. */
static void put_head(struct writer *to, const char *directory)
{
    put(to, "#!/bin/sh\nsublet_dir=");
    put_word(to, directory);
    put(to, "\n"
            "cd \"$sublet_dir\" || exit 125\n"
            "mkdir " SLURM_SCRIPT_CLAIM " 2>/dev/null || exit 0\n"
            "sublet_now() {\n"
            "    sublet_ms=$(date +%s%3N)\n"
            "    case $sublet_ms in *N) sublet_ms=$(date +%s)000;; esac\n"
            "    echo $sublet_ms\n"
            "}\n"
            "sublet_end() {\n"
            "    { echo \"$1 $2 $(sublet_now)$3\"; times; } "
            ">\"$sublet_dir/" SLURM_SCRIPT_END ".new\" &&\n"
            "        mv \"$sublet_dir/" SLURM_SCRIPT_END ".new\" "
            "\"$sublet_dir/" SLURM_SCRIPT_END "\"\n"
            "}\n"
            "echo \"$SLURM_JOB_ID $(sublet_now)\" >" SLURM_SCRIPT_BEGUN ".new &&\n"
            "    mv " SLURM_SCRIPT_BEGUN ".new " SLURM_SCRIPT_BEGUN "\n");
}

int slurm_script_format(struct arena *arena, const struct msg_run_start *start,
                        const struct slurm_script_account *account,
                        const char *directory, const char **text, struct err *err)
{
    struct writer to = {.size = 0};
    put_head(&to, directory);
    put(&to, "sublet_environment() {\n");
    put_environment(&to, arena, start, account);
    put(&to, arena_printf(arena, "umask %04o\n", (unsigned)start->spec.umask));
    int rc = put_limits(&to, arena, start, err);
    if (start->spec.cwd[0] != '\0') {
        put(&to, "cd ");
        put_word(&to, start->spec.cwd);
        put(&to, " 2>/dev/null\n");
    }
    put(&to, "}\n(\nsublet_environment\n");
    put_pre_execs(&to, start);
    put(&to, "exec ");
    put_command(&to, start->spec.command, "\n");
    put(&to, ") </dev/null >" SLURM_SCRIPT_STDOUT " 2>" SLURM_SCRIPT_STDERR "\n"
             "status=$?\nsublet_post=\n");
    put_post_execs(&to, start);
    put(&to, "[ -e " SLURM_SCRIPT_END " ] || sublet_end job $status \"$sublet_post\"\n"
             "exit $status\n");
    if (rc == 0) {
        *text = arena_strn(arena, to.text, to.length);
    }
    free(to.text);
    return rc;
}

/* ---------------------------------------------------------------- what it leaves */

static bool take_number(const char **text, int64_t *number)
{
    char digits[24];
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length >= sizeof(digits)) {
        return false;
    }
    memcpy(digits, *text, length);
    digits[length] = '\0';
    *text += length;
    return conf_parse_int(digits, 0, INT64_MAX, number, NULL) == 0;
}

static bool take(const char **text, const char *word)
{
    size_t length = strlen(word);
    bool is_there = strncmp(*text, word, length) == 0;
    *text += is_there ? length : 0;
    return is_there;
}

bool slurm_script_parse_begun(const char *text, int64_t *job_id, int64_t *begun_ms)
{
    return take_number(&text, job_id) && take(&text, " ") &&
           take_number(&text, begun_ms) && take(&text, "\n");
}

/* "1m2.345s" or "1m2,345s". */
static bool take_time(const char **text, int64_t *ms)
{
    int64_t minutes, seconds, rest = 0;
    if (!take_number(text, &minutes) || !take(text, "m") ||
        !take_number(text, &seconds)) {
        return false;
    }
    if (take(text, ".") || take(text, ",")) {
        const char *digits = *text;
        if (!take_number(text, &rest)) {
            return false;
        }
        for (long n = *text - digits; n != 3; n += n < 3 ? 1 : -1) {
            rest = n < 3 ? rest * 10 : rest / 10;
        }
    }
    *ms = minutes < INT64_MAX / 60000 - 1 && seconds < 60
              ? minutes * 60000 + seconds * 1000 + rest
              : 0;
    return take(text, "s");
}

/* The second line of `times` is of the children. */
static int64_t read_cpu(const char *text)
{
    int64_t user = 0, kernel = 0;
    const char *line = strchr(text, '\n');
    if (line == NULL) {
        return 0;
    }
    line++;
    return take_time(&line, &user) && take(&line, " ") && take_time(&line, &kernel)
               ? user + kernel
               : 0;
}

bool slurm_script_parse_end(const char *text, struct slurm_script_end *end)
{
    int64_t status;
    struct slurm_script_end read = {.is_pre_exec = take(&text, "pre_exec ")};
    if ((!read.is_pre_exec && !take(&text, "job ")) || !take_number(&text, &status) ||
        status > 255 || !take(&text, " ") || !take_number(&text, &read.ended_ms)) {
        return false;
    }
    read.has_post_failed = text[0] == ' ';
    if (!take(&text, read.has_post_failed ? " post_error\n" : "\n")) {
        return false;
    }
    read.status = (int)status;
    read.cpu_ms = read_cpu(text);
    *end = read;
    return true;
}
