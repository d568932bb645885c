/* SPDX-License-Identifier: Apache-2.0 */
/* db_wal.c: see db_wal.h. */
#include "sys/db/db_wal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/log.h"

enum {
    HEADER_SIZE = 32,
    FRAME_HEADER_SIZE = 24,
    PAGE_SIZE_MAX = 65536,
    MAGIC = 0x377f0682, /* the lowest bit: checksums are of big-endian words */
    POSITION_SIZE = 64,
};

/* ---------------------------------------------------------------- the position */

struct position {
    bool is_known;
    bool is_emptying; /* the log may be empty, with all of it in the database */
    uint32_t salts[2];
    int n_frames;
};

static const char position_format[] =
    "sublet %s %08" PRIx32 " %08" PRIx32 " %010d check %08" PRIx32;

static uint32_t check_of(const struct position *position)
{
    uint32_t check = 0x53624c31 ^ position->is_emptying;
    check = (check ^ position->salts[0]) * 0x01000193u;
    check = (check ^ position->salts[1]) * 0x01000193u;
    return (check ^ (uint32_t)position->n_frames) * 0x01000193u;
}

static char *path_with(const char *path, const char *tail)
{
    size_t size = strlen(path) + strlen(tail) + 1;
    char *joined = mem_alloc(size, 1);
    snprintf(joined, size, "%s%s", path, tail);
    return joined;
}

/* A position that is missing or damaged is not known. */
static struct position read_position(const char *path)
{
    struct position position = {0};
    char text[POSITION_SIZE + 1] = "", word[8] = "";
    uint32_t check = 0;
    char *name = path_with(path, "-commit");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        position.is_known =
            read(fd, text, POSITION_SIZE) == POSITION_SIZE &&
            sscanf(text, "sublet %7s %" SCNx32 " %" SCNx32 " %d check %" SCNx32, word,
                   &position.salts[0], &position.salts[1], &position.n_frames,
                   &check) == 5;
        position.is_emptying = strcmp(word, "empties") == 0;
        position.is_known = position.is_known && check == check_of(&position);
        close(fd);
    }
    free(name);
    return position;
}

/* What cannot be written is removed: an old position would be believed. */
static void give_up(struct db_wal *wal)
{
    char *name = path_with(wal->path, "-commit");
    log_line(LOG_LEVEL_WARNING, "\"%s\" cannot be written: %s", name, strerror(errno));
    unlink(name);
    free(name);
    close(wal->fd);
    wal->fd = -1;
}

static void write_position(struct db_wal *wal, const struct position *position)
{
    char text[POSITION_SIZE + 1];
    int length =
        snprintf(text, sizeof(text), position_format,
                 position->is_emptying ? "empties" : "commit", position->salts[0],
                 position->salts[1], position->n_frames, check_of(position));
    memset(text + length, '\n', (size_t)(POSITION_SIZE - length));
    if (wal->fd >= 0 && (pwrite(wal->fd, text, POSITION_SIZE, 0) != POSITION_SIZE ||
                         (position->is_emptying && fdatasync(wal->fd) < 0))) {
        give_up(wal);
    }
}

/* ---------------------------------------------------------------- the log */

struct log {
    bool has_header;
    bool is_big_endian;
    uint32_t salts[2];
    int page_size;
    struct db_pages pages; /* of the committed frames */
    int n_committed;       /* frames up to the last commit that SQLite recovers */
    int n_behind;          /* valid frames behind the first bad one */
    int n_commits_behind;  /* those that end a commit */
};

static uint32_t word_of(const uint8_t *bytes, bool is_big_endian)
{
    return is_big_endian ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                               (uint32_t)bytes[2] << 8 | bytes[3]
                         : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 |
                               (uint32_t)bytes[1] << 8 | bytes[0];
}

static void add_checksum(const uint8_t *bytes, int size, bool is_big_endian,
                         uint32_t sums[2])
{
    for (int i = 0; i < size; i += 8) {
        sums[0] += word_of(bytes + i, is_big_endian) + sums[1];
        sums[1] += word_of(bytes + i + 4, is_big_endian) + sums[0];
    }
}

static bool is_sum(const uint8_t *bytes, const uint32_t sums[2])
{
    return word_of(bytes, true) == sums[0] && word_of(bytes + 4, true) == sums[1];
}

static bool read_header(int fd, struct log *log, uint32_t sums[2])
{
    uint8_t header[HEADER_SIZE];
    if (read(fd, header, sizeof(header)) != (ssize_t)sizeof(header)) {
        return false;
    }
    uint32_t magic = word_of(header, true), page_size = word_of(header + 8, true);
    log->is_big_endian = (magic & 1) != 0;
    log->page_size = (int)page_size;
    log->salts[0] = word_of(header + 16, true);
    log->salts[1] = word_of(header + 20, true);
    sums[0] = sums[1] = 0;
    add_checksum(header, 24, log->is_big_endian, sums);
    return (magic & ~1u) == MAGIC && page_size >= 512 && page_size <= PAGE_SIZE_MAX &&
           (page_size & (page_size - 1)) == 0 && is_sum(header + 24, sums);
}

/* Reads frame after frame. A frame behind a bad one is valid if its checksum follows
 * from the one that the frame before it claims to have. */
static void read_frames(int fd, struct log *log, uint32_t sums[2])
{
    int size = FRAME_HEADER_SIZE + log->page_size, n_frames = 0;
    uint8_t *frame = mem_alloc((size_t)size, 1);
    bool is_broken = false;
    while (read(fd, frame, (size_t)size) == size) {
        add_checksum(frame, 8, log->is_big_endian, sums);
        add_checksum(frame + FRAME_HEADER_SIZE, log->page_size, log->is_big_endian,
                     sums);
        bool is_valid =
            word_of(frame, true) != 0 && word_of(frame + 8, true) == log->salts[0] &&
            word_of(frame + 12, true) == log->salts[1] && is_sum(frame + 16, sums);
        n_frames++;
        db_sums_add_page(&log->pages, word_of(frame, true));
        is_broken = is_broken || !is_valid;
        bool is_commit = is_valid && word_of(frame + 4, true) != 0;
        log->n_behind += is_broken && is_valid;
        log->n_commits_behind += is_broken && is_commit;
        if (!is_broken && is_commit) {
            log->n_committed = n_frames;
        }
        sums[0] = word_of(frame + 16, true);
        sums[1] = word_of(frame + 20, true);
    }
    log->pages.count = log->n_committed;
    free(frame);
}

static int read_log(const char *path, struct log *log, struct err *err)
{
    char *name = path_with(path, "-wal");
    int fd = open(name, O_RDONLY | O_CLOEXEC), rc = 0;
    uint32_t sums[2];
    memset(log, 0, sizeof(*log));
    if (fd < 0 && errno != ENOENT) {
        rc = err_set(err, ERR_IO, "\"%s\": %s", name, strerror(errno));
    }
    if (fd >= 0) {
        log->has_header = read_header(fd, log, sums);
        if (log->has_header) {
            read_frames(fd, log, sums);
        }
        close(fd);
    }
    free(name);
    return rc;
}

/* ---------------------------------------------------------------- judging */

static const char advice[] =
    "restore a copy that is complete, or start once with --accept-loss";

/* The log was begun anew after that commit, when all of it was in the database. */
static bool is_later(const struct log *log, const struct position *position)
{
    return log->has_header && (int32_t)(log->salts[0] - position->salts[0]) > 0;
}

static int refuse(const char *path, const struct log *log,
                  const struct position *position, struct err *err)
{
    bool is_same = log->has_header && log->salts[0] == position->salts[0] &&
                   log->salts[1] == position->salts[1];
    bool is_emptied = position->is_emptying && !log->has_header;
    if (position->n_frames == 0 || is_emptied || is_later(log, position)) {
        return 0;
    }
    if (!is_same) {
        return err_set(
            err, ERR_IO,
            "\"%s\": its write-ahead log is missing or another one: %d pages "
            "of committed changes would be lost; %s",
            path, position->n_frames, advice);
    }
    if (log->n_committed < position->n_frames) {
        return err_set(err, ERR_IO,
                       "\"%s\": its write-ahead log is damaged or cut after %d of %d "
                       "pages: %d pages of committed changes would be lost; %s",
                       path, log->n_committed, position->n_frames,
                       position->n_frames - log->n_committed, advice);
    }
    return 0;
}

/* SQLite would delete the log of an empty file. */
static int check_empty(const char *path, const struct log *log,
                       const struct position *position, struct err *err)
{
    struct stat status;
    bool is_empty = stat(path, &status) < 0 || status.st_size == 0;
    if (!is_empty || (!position->is_known && !log->has_header)) {
        return 0;
    }
    return err_set(
        err, ERR_IO,
        "\"%s\" is missing or empty, but was in use, and its write-ahead log "
        "has %d pages; %s",
        path, log->n_committed, advice);
}

/* A position that is known may be too old: each commit is synced before the next one
 * begins, so two of them behind a bad frame were not torn by a power cut. */
static int check_behind(const char *path, const struct log *log,
                        const struct position *position, struct err *err)
{
    if (log->n_behind == 0 || (position->is_known && log->n_commits_behind < 2)) {
        return 0;
    }
    return err_set(err, ERR_IO,
                   "\"%s\": its write-ahead log has a bad page behind %d, and %d "
                   "valid pages behind that one, which would be lost; %s",
                   path, log->n_committed, log->n_behind, advice);
}

static int check_log(const char *path, const struct log *log,
                     const struct position *position, struct err *err)
{
    if (check_empty(path, log, position, err) < 0) {
        return err->code;
    }
    if (position->is_known && refuse(path, log, position, err) < 0) {
        return err->code;
    }
    return check_behind(path, log, position, err);
}

/* A checkpoint that was emptying the log may have ended, but not its sums. */
static int check_pages(const char *path, const struct db_sums *sums,
                       const struct log *log, const struct position *position,
                       struct err *err)
{
    if (sums == NULL || position->is_emptying) {
        return 0;
    }
    char *name = path_with(path, "-commit");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    int rc = fd >= 0 ? db_sums_check(sums, path, fd, &log->pages, err) : 0;
    if (fd >= 0) {
        close(fd);
    }
    free(name);
    return rc;
}

int db_wal_check(const char *path, const struct db_sums *sums, struct err *err)
{
    struct position position = read_position(path);
    struct log log;
    int rc = read_log(path, &log, err);
    if (rc == 0) {
        rc = check_log(path, &log, &position, err);
    }
    if (rc == 0) {
        rc = check_pages(path, sums, &log, &position, err);
    }
    db_sums_release_pages(&log.pages);
    return rc;
}

/* ---------------------------------------------------------------- keeping it */

int db_wal_open(struct db_wal *wal, const char *path, struct err *err)
{
    char *name = path_with(path, "-commit");
    wal->path = path_with(path, "");
    wal->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int rc =
        wal->fd < 0 ? err_set(err, ERR_IO, "\"%s\": %s", name, strerror(errno)) : 0;
    free(name);
    return rc;
}

void db_wal_close(struct db_wal *wal)
{
    if (wal->path != NULL && wal->fd >= 0) {
        close(wal->fd);
    }
    free(wal->path);
    wal->path = NULL;
}

void db_wal_committed(struct db_wal *wal, int n_frames)
{
    if (n_frames > 0 && (n_frames <= wal->n_frames || wal->n_frames == 0)) {
        struct log log = {0}; /* begun anew, with other salts */
        uint32_t sums[2];
        char *name = path_with(wal->path, "-wal");
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        free(name);
        if (fd < 0 || !read_header(fd, &log, sums)) {
            n_frames = 0; /* nothing can be said about it */
        }
        if (fd >= 0) {
            close(fd);
        }
        wal->salts[0] = log.salts[0];
        wal->salts[1] = log.salts[1];
    }
    wal->n_frames = n_frames;
    write_position(wal, &(struct position){.salts = {wal->salts[0], wal->salts[1]},
                                           .n_frames = n_frames});
}

/* Of a log that is whole: this process has written it. */
static void read_pages(int fd, int n_frames, struct db_pages *pages)
{
    struct log log = {0};
    uint32_t sums[2];
    uint8_t page[4];
    if (!read_header(fd, &log, sums)) {
        return;
    }
    for (int i = 0; i < n_frames; i++) {
        off_t at = HEADER_SIZE + (off_t)i * (FRAME_HEADER_SIZE + log.page_size);
        if (pread(fd, page, sizeof(page), at) == (ssize_t)sizeof(page)) {
            db_sums_add_page(pages, word_of(page, true));
        }
    }
}

void db_wal_pages(const struct db_wal *wal, struct db_pages *pages)
{
    char *name = path_with(wal->path, "-wal");
    int fd = wal->n_frames > 0 ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        read_pages(fd, wal->n_frames, pages);
        close(fd);
    }
    free(name);
}

void db_wal_sum(struct db_wal *wal, struct db_sums *sums, const struct db_pages *pages)
{
    if (wal->fd >= 0 && db_sums_write(sums, wal->fd, pages) < 0) {
        log_line(LOG_LEVEL_WARNING,
                 "\"%s-commit\": the sums of the pages cannot be written: %s",
                 wal->path, strerror(errno));
        if (ftruncate(wal->fd, POSITION_SIZE) < 0) {
            give_up(wal); /* sums that are old would be believed */
        }
    }
}

void db_wal_emptying(struct db_wal *wal)
{
    struct position position = read_position(wal->path);
    if (position.is_known && position.n_frames > 0) {
        position.is_emptying = true;
        write_position(wal, &position);
    }
}
