/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_spool.c: see slurm_spool.h. */
#include "slurm/io/slurm_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/start_file.h"
#include "sys/daemon.h"
#include "sys/log.h"

#define WORK "work"
#define RECORD "record"

enum {
    RUN_NAME_SIZE = NAME_SIZE + 48,
    SMALL_MAX = 4096, /* of the small files */
    DEPTH_MAX = 100,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
};

static void format_name(const struct run_id *run, char name[RUN_NAME_SIZE])
{
    snprintf(name, RUN_NAME_SIZE, "%.*s.%" PRIu64 ".%" PRIu64, NAME_SIZE - 1, run->site,
             run->attempt, run->nonce);
}

static int open_run(const struct slurm_spool *spool, const struct run_id *run)
{
    char name[RUN_NAME_SIZE];
    format_name(run, name);
    return openat(spool->dir, name, OPEN_DIRECTORY);
}

static void close_any(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

int slurm_spool_open(struct slurm_spool *spool, const char *path, struct err *err)
{
    *spool = (struct slurm_spool){.dir = -1};
    int rc = daemon_make_directory(path, 0711, err);
    if (rc < 0) {
        return rc;
    }
    spool->dir = open(path, OPEN_DIRECTORY);
    if (spool->dir < 0) {
        return err_set(err, ERR_IO, "SLURM_SPOOL: \"%s\": %s", path, strerror(errno));
    }
    size_t size = strlen(path) + 1;
    spool->path = mem_alloc(size, 1);
    memcpy(spool->path, path, size);
    return 0;
}

void slurm_spool_close(struct slurm_spool *spool)
{
    close_any(spool->dir);
    free(spool->path);
}

/* ---------------------------------------------------------------- files */

/* The text of a regular file that belongs to this account (-1: any); false: it is
 * none, or too long. */
static bool read_file(int dir, const char *name, int64_t owner, char text[SMALL_MAX])
{
    struct stat status;
    int file = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t length = -1;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        (owner < 0 || (int64_t)status.st_uid == owner)) {
        length = read(file, text, SMALL_MAX - 1);
    }
    close_any(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 && length < SMALL_MAX - 1;
}

static int write_file(int dir, const char *name, int mode, const char *text,
                      struct err *err)
{
    char fresh[64];
    snprintf(fresh, sizeof(fresh), "%s.new", name);
    int file =
        openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    size_t length = strlen(text);
    for (size_t done = 0; file >= 0 && done < length;) {
        ssize_t n = write(file, text + done, length - done);
        if (n < 0 && errno != EINTR) {
            close(file);
            file = -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    if (file < 0 || close(file) != 0 || renameat(dir, fresh, dir, name) != 0) {
        return err_set(err, ERR_IO, "the run's %s cannot be written: %s", name,
                       strerror(errno));
    }
    return 0;
}

static int write_record(int dir, const struct slurm_run_record *record, struct err *err)
{
    char text[SMALL_MAX];
    snprintf(text, sizeof(text),
             "site=%s\nattempt=%" PRIu64 "\nnonce=%" PRIu64 "\nnode=%s\nlease=%s\n"
             "account=%s\ntoken=%" PRIu64 "\ncontrol=%" PRIu64 "\nslots=%d\n"
             "limit=%" PRId64 "\nmem=%" PRId64 "\n",
             record->run.site, record->run.attempt, record->run.nonce, record->node,
             record->lease, record->account, record->token, record->control_done,
             record->n_slots, record->run_limit_ms, record->mem_limit_mib);
    return write_file(dir, RECORD, 0600, text, err);
}

/* The value of the line "name=value", in the arena; NULL: there is none. */
static const char *find_line(struct arena *arena, const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; *at != '\0';) {
        size_t n_line = strcspn(at, "\n");
        if (n_line > length && strncmp(at, name, length) == 0 && at[length] == '=') {
            return arena_strn(arena, at + length + 1, n_line - length - 1);
        }
        at += n_line + (at[n_line] == '\n');
    }
    return NULL;
}

static uint64_t find_number(struct arena *arena, const char *text, const char *name)
{
    const char *value = find_line(arena, text, name);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* False: the record is not complete. */
static bool read_record(int dir, struct slurm_run_record *record, struct arena *arena)
{
    char text[SMALL_MAX];
    if (!read_file(dir, RECORD, -1, text)) {
        return false;
    }
    *record = (struct slurm_run_record){
        .run = {.site = find_line(arena, text, "site"),
                .attempt = find_number(arena, text, "attempt"),
                .nonce = find_number(arena, text, "nonce")},
        .node = find_line(arena, text, "node"),
        .lease = find_line(arena, text, "lease"),
        .account = find_line(arena, text, "account"),
        .token = find_number(arena, text, "token"),
        .control_done = find_number(arena, text, "control"),
        .n_slots = (int)find_number(arena, text, "slots"),
        .run_limit_ms = (int64_t)find_number(arena, text, "limit"),
        .mem_limit_mib = (int64_t)find_number(arena, text, "mem"), /* 0 in older ones */
    };
    return record->run.site != NULL && record->node != NULL && record->lease != NULL &&
           record->account != NULL && find_line(arena, text, "limit") != NULL;
}

/* ---------------------------------------------------------------- a new run */

/* Deletes what is in the directory. No link is followed, and what is nested deeper than
 * any job needs stays. */
static void empty(int dir, int depth)
{
    DIR *list = fdopendir(dup(dir));
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            unlinkat(dir, name, 0) == 0) {
            continue;
        }
        int inner = depth < DEPTH_MAX ? openat(dir, name, OPEN_DIRECTORY) : -1;
        if (inner >= 0) {
            empty(inner, depth + 1);
            close(inner);
            unlinkat(dir, name, AT_REMOVEDIR);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}

static int find_account(const char *name, struct slurm_script_account *account,
                        uid_t *uid, gid_t *gid, struct arena *arena, struct err *err)
{
    const struct passwd *entry = name[0] != '\0' ? getpwnam(name) : getpwuid(geteuid());
    if (entry == NULL) {
        return err_set(err, ERR_NOT_FOUND, "there is no account \"%s\" here", name);
    }
    if (entry->pw_uid == 0 && name[0] != '\0') {
        return err_set(err, ERR_DENIED, "a leased job never runs as root");
    }
    *account = (struct slurm_script_account){
        .name = arena_str(arena, entry->pw_name),
        .home = arena_str(arena, entry->pw_dir),
        .shell =
            arena_str(arena, entry->pw_shell[0] != '\0' ? entry->pw_shell : "/bin/sh")};
    *uid = entry->pw_uid;
    *gid = entry->pw_gid;
    return 0;
}

/* What an earlier try has left, which died before it wrote the record. */
static bool is_left_over(int dir)
{
    struct slurm_run_record record;
    struct arena arena;
    arena_init_small(&arena);
    bool is_run = read_record(dir, &record, &arena);
    arena_release(&arena);
    return !is_run;
}

/* The directories of the run, and its account's. Returns the outer one. */
static int make_directories(const struct slurm_spool *spool, const char *name,
                            uid_t uid, gid_t gid, struct err *err)
{
    bool is_there = mkdirat(spool->dir, name, 0711) != 0 && errno == EEXIST;
    int dir = openat(spool->dir, name, OPEN_DIRECTORY);
    if (is_there && dir >= 0 && !is_left_over(dir)) {
        close(dir);
        return err_set(err, ERR_EXISTS, "the run has a directory already");
    }
    if (is_there && dir >= 0) {
        empty(dir, 0);
    }
    if (dir < 0 || mkdirat(dir, WORK, 0700) != 0 ||
        (geteuid() == 0 && fchownat(dir, WORK, uid, gid, AT_SYMLINK_NOFOLLOW) != 0)) {
        int error = errno;
        close_any(dir);
        return err_set(err, ERR_IO, "\"%s/%s\": %s", spool->path, name,
                       strerror(error));
    }
    return dir;
}

int slurm_spool_make(const struct slurm_spool *spool,
                     const struct slurm_run_record *record,
                     const struct msg_run_start *start, struct err *err)
{
    char name[RUN_NAME_SIZE];
    struct slurm_script_account account;
    struct arena arena;
    uid_t uid = 0;
    gid_t gid = 0;
    const char *text;
    arena_init(&arena);
    format_name(&record->run, name);
    int rc = find_account(record->account, &account, &uid, &gid, &arena, err);
    if (rc == 0) {
        rc = slurm_script_format(&arena, start, &account,
                                 arena_printf(&arena, "%s/%s/" WORK, spool->path, name),
                                 &text, err);
    }
    int dir = rc == 0 ? make_directories(spool, name, uid, gid, err) : rc;
    if (dir >= 0) {
        rc = write_file(dir, SLURM_SCRIPT_FILE, 0600, text, err);
        rc = rc == 0 ? start_file_write(dir, start, err) : rc;
        rc = rc == 0 ? write_record(dir, record, err) : rc;
        close(dir);
    }
    arena_release(&arena);
    return dir < 0 ? dir : rc;
}

/* ---------------------------------------------------------------- what is there */

static int64_t size_of(int dir, const char *name)
{
    struct stat status;
    return fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISREG(status.st_mode)
               ? (int64_t)status.st_size
               : 0;
}

bool slurm_spool_look(const struct slurm_spool *spool, const struct run_id *run,
                      struct slurm_run_files *files)
{
    char text[SMALL_MAX];
    struct stat status;
    int dir = open_run(spool, run);
    int work = dir >= 0 ? openat(dir, WORK, OPEN_DIRECTORY) : -1;
    *files = (struct slurm_run_files){.is_claimed = false};
    if (work >= 0 && fstat(work, &status) == 0) {
        int64_t owner = (int64_t)status.st_uid;
        int claim = openat(work, SLURM_SCRIPT_CLAIM, OPEN_DIRECTORY);
        files->is_claimed = claim >= 0 || errno != ENOENT;
        if (claim >= 0 && read_file(claim, "begun", owner, text) &&
            !slurm_script_parse_begun(text, &files->job_id, &files->begun_ms)) {
            files->begun_ms = 0;
        }
        close_any(claim);
        files->has_ended = read_file(work, SLURM_SCRIPT_END, owner, text) &&
                           slurm_script_parse_end(text, &files->end);
        files->out_bytes = size_of(work, SLURM_SCRIPT_STDOUT);
        files->err_bytes = size_of(work, SLURM_SCRIPT_STDERR);
    }
    close_any(work);
    close_any(dir);
    return work >= 0;
}

bool slurm_spool_claim(const struct slurm_spool *spool, const struct run_id *run)
{
    int dir = open_run(spool, run);
    bool is_mine = dir >= 0 && mkdirat(dir, WORK "/" SLURM_SCRIPT_CLAIM, 0700) == 0;
    close_any(dir);
    return is_mine;
}

void slurm_spool_keep_control(const struct slurm_spool *spool, const struct run_id *run,
                              uint64_t number)
{
    struct slurm_run_record record;
    struct arena arena;
    struct err err;
    int dir = open_run(spool, run);
    arena_init_small(&arena);
    if (dir >= 0 && read_record(dir, &record, &arena)) {
        record.control_done = number;
        if (write_record(dir, &record, &err) < 0) {
            log_line(LOG_LEVEL_WARNING, "%s", err.text);
        }
    }
    arena_release(&arena);
    close_any(dir);
}

const char *slurm_spool_script(const struct slurm_spool *spool,
                               const struct run_id *run, struct arena *arena)
{
    char name[RUN_NAME_SIZE];
    format_name(run, name);
    return arena_printf(arena, "%s/%s/" SLURM_SCRIPT_FILE, spool->path, name);
}

void slurm_spool_read_output(const struct slurm_spool *spool,
                             const struct msg_output_ask *ask,
                             struct msg_output *output, struct arena *arena)
{
    struct stat status, work_status;
    int dir = open_run(spool, &ask->run);
    int work = dir >= 0 ? openat(dir, WORK, OPEN_DIRECTORY) : -1;
    int file = work < 0 ? -1
                        : openat(work,
                                 ask->stream == OUTPUT_OUT ? SLURM_SCRIPT_STDOUT
                                                           : SLURM_SCRIPT_STDERR,
                                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        fstat(work, &work_status) != 0 || status.st_uid != work_status.st_uid) {
        output->is_gone = true;
    } else {
        size_t wanted = ask->n_bytes < OUTPUT_CHUNK_MAX ? (size_t)ask->n_bytes
                                                        : (size_t)OUTPUT_CHUNK_MAX;
        uint8_t *bytes = arena_alloc(arena, wanted + 1, 1);
        ssize_t got = pread(file, bytes, wanted, (off_t)ask->offset);
        output->bytes = bytes;
        output->n_bytes = got > 0 ? (int)got : 0;
        output->is_end = ask->offset + output->n_bytes >= status.st_size;
    }
    close_any(file);
    close_any(work);
    close_any(dir);
}

bool slurm_spool_read_start(const struct slurm_spool *spool, const struct run_id *run,
                            struct msg_run_start *start, struct arena *arena)
{
    struct err err;
    int dir = open_run(spool, run);
    bool is_read = dir >= 0 && start_file_read(dir, arena, start, &err) == 0;
    close_any(dir);
    return is_read;
}

/* ---------------------------------------------------------------- removal */

void slurm_spool_remove(const struct slurm_spool *spool, const struct run_id *run)
{
    char name[RUN_NAME_SIZE];
    int dir = open_run(spool, run);
    format_name(run, name);
    if (dir >= 0) {
        empty(dir, 0);
        close(dir);
    }
    if (unlinkat(spool->dir, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        log_line(LOG_LEVEL_WARNING, "\"%s/%s\" cannot be deleted: %s", spool->path,
                 name, strerror(errno));
    }
}

void slurm_spool_list(const struct slurm_spool *spool, slurm_spool_fn fn, void *arg)
{
    struct dirent **entries = NULL;
    struct arena arena;
    int count = scandirat(spool->dir, ".", &entries, NULL, alphasort);
    arena_init(&arena);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct slurm_run_record record;
        int dir = name[0] != '.' ? openat(spool->dir, name, OPEN_DIRECTORY) : -1;
        if (dir >= 0 && read_record(dir, &record, &arena)) {
            fn(arg, &record);
        } else if (dir >= 0) {
            log_line(LOG_LEVEL_WARNING, "\"%s/%s\" has no record of a run: ignored",
                     spool->path, name);
        }
        close_any(dir);
        free(entries[i]);
    }
    free(entries);
    arena_release(&arena);
}
