/* SPDX-License-Identifier: Apache-2.0 */
/* db_sums.c: see db_sums.h. */
#include "sys/db/db_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    PAGE_SIZE = 4096,
    HEAD_AT = 64, /* in PATH-commit, behind the position */
    PAGES_MAX = 1 << 24,
};

/* At HEAD_AT; the sums follow. In the machine's byte order, as stores do not move
 * between machines. */
struct head {
    char magic[8];
    uint64_t n_pages;
    uint64_t sum; /* of the sums */
};

static const char magic[8] = "sums\0\0\0\1";

void db_sums_add_page(struct db_pages *pages, uint32_t page)
{
    if (pages->count == pages->capacity) {
        pages->capacity = pages->capacity > 0 ? 2 * pages->capacity : 64;
        pages->items =
            mem_grow(pages->items, (size_t)pages->capacity, sizeof(*pages->items));
    }
    pages->items[pages->count++] = page;
}

void db_sums_release_pages(struct db_pages *pages)
{
    free(pages->items);
    *pages = (struct db_pages){0};
}

/* Each step is a bijection of the sum so far, so that any one word that differs makes
 * another sum. */
static uint64_t sum_of(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = size;
    for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof(word));
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

int db_sums_open(struct db_sums *sums, const char *path, struct err *err)
{
    *sums = (struct db_sums){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    return sums->fd < 0 ? err_set(err, ERR_IO, "\"%s\": %s", path, strerror(errno)) : 0;
}

void db_sums_close(struct db_sums *sums)
{
    if (sums->fd >= 0) {
        close(sums->fd);
    }
    free(sums->sums);
    *sums = (struct db_sums){.fd = -1};
}

/* The number of whole pages of the file; -1 and errno. */
static int count_pages(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return -1;
    }
    int64_t n_pages = status.st_size / PAGE_SIZE;
    errno = EFBIG;
    return n_pages > PAGES_MAX ? -1 : (int)n_pages;
}

/* False, and errno: the page cannot be read. */
static bool sum_page(int fd, int page, uint64_t *sum)
{
    uint8_t bytes[PAGE_SIZE];
    ssize_t size = pread(fd, bytes, sizeof(bytes), (off_t)(page - 1) * PAGE_SIZE);
    errno = size >= 0 ? EIO : errno;
    *sum = sum_of(bytes, sizeof(bytes));
    return size == PAGE_SIZE;
}

/* ---------------------------------------------------------------- checking */

/* NULL: there are none that can be believed. */
static uint64_t *read_sums(int commit_fd, int *n_pages)
{
    struct head head;
    if (pread(commit_fd, &head, sizeof(head), HEAD_AT) != (ssize_t)sizeof(head) ||
        memcmp(head.magic, magic, sizeof(magic)) != 0 || head.n_pages > PAGES_MAX) {
        return NULL;
    }
    size_t size = (size_t)head.n_pages * sizeof(uint64_t);
    uint64_t *sums = mem_alloc((size_t)head.n_pages + 1, sizeof(*sums));
    *n_pages = (int)head.n_pages;
    if (pread(commit_fd, sums, size, HEAD_AT + (off_t)sizeof(head)) != (ssize_t)size ||
        sum_of(sums, size) != head.sum) {
        free(sums);
        return NULL;
    }
    return sums;
}

int db_sums_check(const struct db_sums *sums, const char *path, int commit_fd,
                  const struct db_pages *log, struct err *err)
{
    int n_pages = 0, n_damaged = 0, first = 0;
    uint64_t *known = read_sums(commit_fd, &n_pages);
    if (known == NULL) {
        return 0;
    }
    bool *is_logged = mem_alloc((size_t)n_pages + 1, sizeof(*is_logged));
    for (int i = 0; i < log->count; i++) {
        if (log->items[i] <= (uint32_t)n_pages) {
            is_logged[log->items[i]] = true;
        }
    }
    for (int page = 1; page <= n_pages; page++) {
        uint64_t sum;
        bool is_well = is_logged[page] ||
                       (sum_page(sums->fd, page, &sum) && sum == known[page - 1]);
        n_damaged += !is_well;
        first = !is_well && first == 0 ? page : first;
    }
    free(is_logged);
    free(known);
    return n_damaged == 0
               ? 0
               : err_set(err, ERR_IO,
                         "\"%s\": %d of %d pages are damaged, page %d first: what they "
                         "hold may be lost or wrong; restore a copy that is complete, "
                         "and remove \"%s-commit\" with the damaged file",
                         path, n_damaged, n_pages, first, path);
}

/* ---------------------------------------------------------------- writing */

static bool resize(struct db_sums *sums, int count)
{
    int first = sums->count < count ? sums->count : count;
    sums->sums = mem_grow(sums->sums, (size_t)count + 1, sizeof(*sums->sums));
    sums->count = count;
    for (int page = first + 1; page <= count; page++) {
        if (!sum_page(sums->fd, page, &sums->sums[page - 1])) {
            return false;
        }
    }
    return true;
}

/* A page that many commits changed is in the log as often. */
static bool sum_logged(struct db_sums *sums, const struct db_pages *log)
{
    bool *is_done = mem_alloc((size_t)sums->count + 1, sizeof(*is_done));
    bool is_well = true;
    for (int i = 0; i < log->count && is_well; i++) {
        int page = (int)log->items[i];
        if (page <= sums->count && !is_done[page]) {
            is_done[page] = true;
            is_well = sum_page(sums->fd, page, &sums->sums[page - 1]);
        }
    }
    free(is_done);
    return is_well;
}

static bool write_all(int fd, const void *bytes, size_t size, off_t at)
{
    errno = ENOSPC;
    return pwrite(fd, bytes, size, at) == (ssize_t)size;
}

int db_sums_write(struct db_sums *sums, int commit_fd, const struct db_pages *log)
{
    int n_pages = count_pages(sums->fd);
    if (log == NULL) {
        sums->count = 0;
    }
    if (n_pages < 0 || !resize(sums, n_pages)) {
        return -1;
    }
    if (log != NULL && !sum_logged(sums, log)) {
        return -1;
    }
    size_t size = (size_t)n_pages * sizeof(uint64_t);
    struct head head = {.n_pages = (uint64_t)n_pages, .sum = sum_of(sums->sums, size)};
    memcpy(head.magic, magic, sizeof(magic));
    off_t at = HEAD_AT;
    return write_all(commit_fd, &head, sizeof(head), at) &&
                   write_all(commit_fd, sums->sums, size, at + (off_t)sizeof(head)) &&
                   fdatasync(commit_fd) == 0
               ? 0
               : -1;
}
