/* SPDX-License-Identifier: Apache-2.0 */
/* spec_writer.c: see spec_writer.h. */
#include "host/agent/spec_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/agent/start_file.h"
#include "host/exec/exec.h"
#include "host/run_dir/run_dir.h"
#include "model/cpu.h"

/* A longer list of hosts is left empty: the kernel allows 128 KiB for a variable. */
enum { HOSTS_VARIABLE_MAX = 65536 };

#define NEW_RESIZE_FILE RUN_DIR_RESIZE RUN_DIR_NEW

enum { NUMBER_END_MAX = 64 }; /* the beginning of the resize file, with its number */

static void put(FILE *to, const char *name, const char *value)
{
    fprintf(to, "%s=%s%c", name, value, '\0');
}

static void put_item(void *to, const char *name, const char *key, const char *value)
{
    fprintf(to, "%s=%s%s%s%c", name, key == NULL ? "" : key, key == NULL ? "" : "=",
            value, '\0');
}

/* The parts of "12[3]". Without an array the index is "0", as in LSF. */
struct job_parts {
    int id_length;
    const char *index;
    int index_length;
};

static struct job_parts split_job(const char *job)
{
    struct job_parts parts = {
        .id_length = (int)strcspn(job, "["), .index = "0", .index_length = 1};
    if (job[parts.id_length] == '[') {
        parts.index = job + parts.id_length + 1;
        parts.index_length = (int)strcspn(parts.index, "]");
    }
    return parts;
}

/* %J is the job's id, %I its index. */
static void put_path(FILE *to, const char *name, const char *path, const char *job)
{
    struct job_parts parts = split_job(job);
    fprintf(to, "%s=", name);
    for (const char *at = path; *at != '\0'; at++) {
        if (at[0] == '%' && at[1] == 'J') {
            fprintf(to, "%.*s", parts.id_length, job);
            at++;
        } else if (at[0] == '%' && at[1] == 'I') {
            fprintf(to, "%.*s", parts.index_length, parts.index);
            at++;
        } else {
            fputc(*at, to);
        }
    }
    fputc('\0', to);
}

static bool is_set_by_us(const char *variable)
{
    static const char *const names[] = {
        "LSB_JOBID=",           "LSB_JOBINDEX=",      "LSB_JOBNAME=",
        "LSB_QUEUE=",           "LSB_HOSTS=",         "LSB_MCPU_HOSTS=",
        "LSB_INTERACTIVE=",     "SUBLET_LEASE=",      "SUBLET_RUN=",
        "LSB_BATCH_JID=",       "LSB_OUTPUTFILE=",    "LSB_ERRORFILE=",
        "LSB_DJOB_NUMPROC=",    "LSB_BIND_CPU_LIST=", "LSB_BIND_MEM_LIST=",
        "LSB_BIND_MEM_POLICY=", "LSB_DJOB_HOSTFILE=", "LSB_DJOB_RANKFILE=",
        "LSB_SUB_USER=",        "LSB_JOB_EXECUSER=",  "LSFUSER=",
        "LSB_EXIT_PRE_ABORT=",  "LSB_JOBINDEX_END=",  "LSB_JOBINDEX_STEP="};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void put_env(FILE *to, const char *name, const char *value)
{
    fprintf(to, "env=%s=%s%c", name, value, '\0');
}

/* "NAME=h1 h1 h2", a name for each slot; "NAME=" if that is too long. */
static void put_hosts(FILE *to, const char *name, const struct host_slots *hosts,
                      int n_hosts)
{
    size_t length = 0;
    for (int i = 0; i < n_hosts && length <= HOSTS_VARIABLE_MAX; i++) {
        length += (strlen(hosts[i].host) + 1) * (size_t)hosts[i].n_slots;
    }
    const char *blank = "";
    fprintf(to, "%s=", name);
    for (int i = 0; i < n_hosts && length <= HOSTS_VARIABLE_MAX; i++) {
        for (int slot = 0; slot < hosts[i].n_slots; slot++) {
            fprintf(to, "%s%s", blank, hosts[i].host);
            blank = " ";
        }
    }
    fputc('\0', to);
}

/* "NAME=h1 2 h2 1"; "NAME=" if that is too long. */
static void put_counts(FILE *to, const char *name, const struct host_slots *hosts,
                       int n_hosts)
{
    enum { NUMBER_LENGTH = 12 };
    size_t length = 0;
    for (int i = 0; i < n_hosts; i++) {
        length += strlen(hosts[i].host) + NUMBER_LENGTH;
    }
    fprintf(to, "%s=", name);
    for (int i = 0; i < n_hosts && length <= HOSTS_VARIABLE_MAX; i++) {
        fprintf(to, "%s%s %d", i > 0 ? " " : "", hosts[i].host, hosts[i].n_slots);
    }
    fputc('\0', to);
}

static void put_slots(FILE *to, const struct host_slots *hosts, int n_hosts)
{
    fprintf(to, "env=LSB_DJOB_NUMPROC=%d%c", msg_sum_slots(hosts, n_hosts), '\0');
}

/* An array element has the name of the array with its own index. */
static void put_job(FILE *to, const struct msg_run_start *start)
{
    struct job_parts parts = split_job(start->job);
    const char *name = start->spec.name;
    fprintf(to, "env=LSB_JOBID=%.*s%c", parts.id_length, start->job, '\0');
    put_env(to, "LSB_BATCH_JID", start->job);
    fprintf(to, "env=LSB_JOBINDEX=%.*s%c", parts.index_length, parts.index, '\0');
    if (start->job[parts.id_length] == '[') {
        fprintf(to, "env=LSB_JOBNAME=%.*s%s%c", (int)strcspn(name, "["), name,
                start->job + parts.id_length, '\0');
    } else {
        put_env(to, "LSB_JOBNAME", name);
    }
}

/* The last index of "a[1-10,15]%3", and the step of its last range. */
static void put_last_index(FILE *to, const char *name)
{
    const char *list = strchr(name, '['),
               *end = list != NULL ? strchr(list, ']') : NULL;
    long last = 0, step = 1;
    for (const char *at = list; at != NULL && at < end;) {
        bool is_step = *at == ':', is_next = *at == ',';
        char *after = NULL;
        long number = strtol(++at, &after, 10);
        if (after == at) {
            break;
        }
        step = is_step ? number : is_next ? 1 : step;
        last = is_step ? last : number;
        at = after;
    }
    if (last > 0) {
        fprintf(to, "env=LSB_JOBINDEX_END=%ld%cenv=LSB_JOBINDEX_STEP=%ld%c", last, '\0',
                step, '\0');
    }
}

/* Who submitted it, and as whom it runs. */
static void put_users(FILE *to, const struct msg_run_start *start)
{
    const char *account = start->account[0] != '\0' ? start->account : start->spec.user;
    put_env(to, "LSB_SUB_USER", start->spec.user);
    put_env(to, "LSB_JOB_EXECUSER", account);
    put_env(to, "LSFUSER", account);
}

static bool has_hosts_file(const struct msg_run_start *start,
                           const struct spec_writer_setting *setting)
{
    return setting->spool != NULL && msg_sum_slots(start->hosts, start->n_hosts) > 1;
}

static void put_hosts_file(FILE *to, const char *run,
                           const struct spec_writer_setting *setting)
{
    static const char *const names[] = {"LSB_DJOB_HOSTFILE", "LSB_DJOB_RANKFILE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fprintf(to, "env=%s=%s/runs/%s/%s%c", names[i], setting->spool, run,
                RUN_DIR_HOSTS, '\0');
    }
}

/* The site makes the directory of a leased job, whose output it fetches. */
static void put_output_directory(FILE *to, const struct msg_run_start *start,
                                 const char *directory)
{
    if (start->lease[0] == '\0') {
        put_path(to, "env=LSB_OUTDIR", directory, start->job);
    }
}

static void put_variables(FILE *to, const struct msg_run_start *start)
{
    static const char outdir[] = "LSB_OUTDIR=";
    for (int i = 0; i < start->spec.n_env; i++) {
        if (strncmp(start->spec.env[i], outdir, sizeof(outdir) - 1) == 0) {
            put_output_directory(to, start, start->spec.env[i] + sizeof(outdir) - 1);
        } else if (!is_set_by_us(start->spec.env[i])) {
            put(to, "env", start->spec.env[i]);
        }
    }
    put_job(to, start);
    put_env(to, "LSB_QUEUE", start->spec.queue);
    fputs("env=", to);
    put_hosts(to, "LSB_HOSTS", start->hosts, start->n_hosts);
    fputs("env=", to);
    put_counts(to, "LSB_MCPU_HOSTS", start->hosts, start->n_hosts);
    put_slots(to, start->hosts, start->n_hosts);
    put_users(to, start);
    put_env(to, "LSB_EXIT_PRE_ABORT", "99");
    if (start->job[strcspn(start->job, "[")] == '[') {
        put_last_index(to, start->spec.name);
    }
    if (start->spec.interaction != INTERACTION_NONE) {
        put_env(to, "LSB_INTERACTIVE", "Y");
    }
    if (start->lease[0] != '\0') {
        put_env(to, "SUBLET_LEASE", start->lease);
    }
}

/* A leased job has no files of its own. */
static void put_files(FILE *to, const struct msg_run_start *start)
{
    if (start->lease[0] == '\0') {
        if (start->spec.out_file[0] != '\0') {
            put_path(to, "env=LSB_OUTPUTFILE", start->spec.out_file, start->job);
        }
        if (start->spec.err_file[0] != '\0') {
            put_path(to, "env=LSB_ERRORFILE", start->spec.err_file, start->job);
        }
        put_path(to, "in_file", start->spec.in_file, start->job);
        put_path(to, "out_file", start->spec.out_file, start->job);
        put_path(to, "err_file", start->spec.err_file, start->job);
    }
}

/* What the binding says of this host, the run's first one. */
struct bound {
    char cpus[CPU_LIST_SIZE], nodes[CPU_LIST_SIZE];
    enum cpu_memory memory;
};

static int read_bound(const struct msg_run_start *start, struct bound *bound,
                      struct err *err)
{
    struct arena arena;
    struct cpu_binding binding = {.n_hosts = 0};
    *bound = (struct bound){.cpus = "", .nodes = ""};
    if (start->binding == NULL || start->binding[0] == '\0') {
        return 0;
    }
    arena_init(&arena);
    int code = cpu_binding_parse(&arena, start->binding, &binding, err);
    if (code == 0 && binding.n_hosts > 0) {
        cpu_set_format(&binding.hosts[0].cpus, bound->cpus);
        cpu_set_format(&binding.hosts[0].nodes, bound->nodes);
        bound->memory = binding.memory;
    }
    arena_release(&arena);
    return code;
}

/* LSF's variables: each number alone, without ranges. */
static void put_numbers(FILE *to, const char *name, const char *list)
{
    struct cpu_set set;
    struct err err;
    const char *comma = "";
    if (list[0] == '\0' || cpu_set_parse(list, strlen(list), &set, &err) != 0) {
        return;
    }
    fprintf(to, "env=%s=", name);
    for (int i = 0; i < CPU_SET_MAX; i++) {
        if (cpu_set_has(&set, i)) {
            fprintf(to, "%s%d", comma, i);
            comma = ",";
        }
    }
    fputc('\0', to);
}

static void put_bound(FILE *to, const struct bound *bound)
{
    put_numbers(to, "LSB_BIND_CPU_LIST", bound->cpus);
    if (bound->memory != CPU_MEMORY_ANY) {
        put_numbers(to, "LSB_BIND_MEM_LIST", bound->nodes);
        put_env(to, "LSB_BIND_MEM_POLICY", cpu_memory_name(bound->memory));
    }
}

static int put_all(FILE *to, const char *name, const struct msg_run_start *start,
                   const struct spec_writer_setting *setting, struct err *err)
{
    struct run_spec spec;
    struct bound bound;
    int code = run_spec_from_start(&spec, start, err);
    if (code == 0) {
        code = read_bound(start, &bound, err);
    }
    if (code == 0) {
        spec.run = name;
        spec.cpus = bound.cpus;
        spec.mem_nodes = bound.memory != CPU_MEMORY_ANY ? bound.nodes : "";
        spec.is_mem_strict = bound.memory == CPU_MEMORY_LOCALONLY;
        spec.cgroup = setting->cgroup;
        spec.memory = setting->memory;
        spec.private_view = spec.is_leased ? setting->private_view : 0;
        spec.wait_ms = setting->wait_ms;
        spec.grace_ms = spec.grace_ms > 0 ? spec.grace_ms : setting->grace_ms;
        fprintf(to, "%s%c", RUN_SPEC_HEAD, '\0');
        run_spec_visit(&spec, put_item, to);
        put_files(to, start);
        put_variables(to, start);
        put_bound(to, &bound);
        if (has_hosts_file(start, setting)) {
            put_hosts_file(to, name, setting);
        }
    }
    return code;
}

struct text {
    char *bytes; /* heap */
    size_t length;
};

static FILE *open_text(struct text *text)
{
    FILE *to = open_memstream(&text->bytes, &text->length);
    if (to == NULL) {
        abort();
    }
    return to;
}

/* Its last item; see exec.h. */
static void put_end(FILE *to, const struct text *text)
{
    char end[RUN_SPEC_END_SIZE];
    if (fflush(to) != 0) {
        abort(); /* out of memory */
    }
    run_spec_end(end, text->bytes, text->length);
    fwrite(end, sizeof(end), 1, to);
}

static void close_text(FILE *to)
{
    if (fclose(to) != 0) {
        abort(); /* out of memory */
    }
}

/* Writes from the beginning of an open file; the parts are what it contains then. */
static int write_parts(int file, const struct iovec parts[2])
{
    struct stat status;
    ssize_t length = (ssize_t)(parts[0].iov_len + parts[1].iov_len);
    ssize_t written = writev(file, parts, 2);
    if (written != length) {
        return written < 0 ? errno : ENOSPC;
    }
    bool is_longer = fstat(file, &status) != 0 || status.st_size > length;
    return is_longer && ftruncate(file, length) != 0 ? errno : 0;
}

/* A file that is there is overwritten: it belongs to no run (host_spool.h), or is not
 * in its place yet. `behind` may be NULL. */
static int write_file(int dir, const char *file_name, const struct text *text,
                      const struct text *behind, const char *what, struct err *err)
{
    const struct iovec parts[2] = {
        {text->bytes, text->length},
        {behind != NULL ? behind->bytes : NULL, behind != NULL ? behind->length : 0}};
    int file =
        openat(dir, file_name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return err_set(err, ERR_IO, "cannot create the run's %s: %s", what,
                       strerror(errno));
    }
    int error = write_parts(file, parts);
    close(file);
    return error == 0 ? 0
                      : err_set(err, ERR_IO, "cannot write the run's %s: %s", what,
                                strerror(error));
}

/* A line for each slot. The job reads it. */
static int write_hosts(int dir, const struct msg_run_start *start, struct err *err)
{
    struct text text;
    FILE *to = open_text(&text);
    for (int i = 0; i < start->n_hosts; i++) {
        for (int slot = 0; slot < start->hosts[i].n_slots; slot++) {
            fprintf(to, "%s\n", start->hosts[i].host);
        }
    }
    close_text(to);
    int code = write_file(dir, RUN_DIR_HOSTS, &text, NULL, "list of hosts", err);
    if (code == 0 && fchmodat(dir, RUN_DIR_HOSTS, 0644, 0) != 0) {
        code =
            err_set(err, ERR_IO, "cannot open the run's list of hosts to its job: %s",
                    strerror(errno));
    }
    free(text.bytes);
    return code;
}

int spec_writer_write(int dir, const char *name, const struct msg_run_start *start,
                      const struct spec_writer_setting *setting, struct err *err)
{
    struct text text, behind;
    uint8_t *bytes;
    int code = start_file_encode(start, &bytes, &behind.length, err);
    if (code != 0) {
        return code;
    }
    behind.bytes = (char *)bytes;
    FILE *to = open_text(&text);
    code = put_all(to, name, start, setting, err);
    put_end(to, &text);
    close_text(to);
    if (code == 0) {
        code = write_file(dir, RUN_DIR_SPEC, &text, &behind, "spec", err);
    }
    if (code == 0 && has_hosts_file(start, setting)) {
        code = write_hosts(dir, start, err);
    }
    free(text.bytes);
    free(bytes);
    return code;
}

/* ---- resize */

static void put_resize(FILE *to, const struct msg_run_resize *resize)
{
    const char *event = resize->event == RESIZE_GROW ? "grow" : "shrink";
    fprintf(to, "%s%cnumber=%" PRIu64 "%cn_slots=%d%ccommand=%s%c",
            RUN_SPEC_RESIZE_HEAD, '\0', resize->number, '\0',
            msg_sum_slots(resize->all, resize->n_all), '\0', resize->command, '\0');
    fputs("env=", to);
    put_hosts(to, "LSB_HOSTS", resize->all, resize->n_all);
    fputs("env=", to);
    put_counts(to, "LSB_MCPU_HOSTS", resize->all, resize->n_all);
    put_slots(to, resize->all, resize->n_all);
    fputs("told=", to);
    put_counts(to, "LSB_RESIZE_HOSTS", resize->hosts, resize->n_hosts);
    fprintf(to, "told=LSB_RESIZE_EVENT=%s%c", event, '\0');
    fprintf(to, "told=LSB_RESIZE_NOTIFY_OK=0%c", '\0');
    fprintf(to, "told=LSB_RESIZE_NOTIFY_FAIL=1%c", '\0');
}

int spec_writer_write_resize(int dir, const struct msg_run_resize *resize,
                             struct err *err)
{
    struct text text;
    FILE *to = open_text(&text);
    put_resize(to, resize);
    put_end(to, &text);
    close_text(to);
    int code = write_file(dir, NEW_RESIZE_FILE, &text, NULL, "resize", err);
    free(text.bytes);
    if (code == 0 && renameat(dir, NEW_RESIZE_FILE, dir, RUN_DIR_RESIZE) != 0) {
        code =
            err_set(err, ERR_IO, "cannot write the run's resize: %s", strerror(errno));
    }
    return code;
}

bool spec_writer_has_resize(int dir, uint64_t number)
{
    char wanted[NUMBER_END_MAX], found[NUMBER_END_MAX];
    int length = snprintf(wanted, sizeof(wanted), "%s%cnumber=%" PRIu64 "%c",
                          RUN_SPEC_RESIZE_HEAD, '\0', number, '\0');
    int file = openat(dir, RUN_DIR_RESIZE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_same = file >= 0 && read(file, found, (size_t)length) == length &&
                   memcmp(found, wanted, (size_t)length) == 0;
    if (file >= 0) {
        close(file);
    }
    return is_same;
}
