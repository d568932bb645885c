/* SPDX-License-Identifier: Apache-2.0 */
/* mark_file.c: see mark_file.h. */
#include "host/agent/mark_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/host_spool.h"
#include "sys/log.h"

enum { PATH_SIZE = HOST_SPOOL_PATH_SIZE + sizeof("/mark"), LINE_SIZE = 80 };

/* A number that one changed digit of the mark changes. */
static uint64_t check_of(const struct journal_mark *mark)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    return ((mark->commits * prime + mark->attempt) * prime + mark->job) * prime;
}

struct journal_mark mark_file_read(const char *spool)
{
    char path[PATH_SIZE];
    struct journal_mark mark = {0};
    snprintf(path, sizeof(path), "%s/mark", spool);
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT) {
        return mark;
    }
    uint64_t check = 0;
    int n_read = file == NULL
                     ? 0
                     : fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64,
                              &mark.commits, &mark.attempt, &mark.job, &check);
    if (file != NULL) {
        fclose(file);
    }
    if (n_read != 4 || check != check_of(&mark)) {
        log_line(LOG_LEVEL_WARNING, "\"%s\" is damaged: it is written anew", path);
        return (struct journal_mark){0};
    }
    return mark;
}

void mark_file_write(const char *spool, const struct journal_mark *mark)
{
    static bool is_logged;
    char path[PATH_SIZE], line[LINE_SIZE + 1];
    snprintf(path, sizeof(path), "%s/mark", spool);
    snprintf(line, sizeof(line), "%20" PRIu64 " %20" PRIu64 " %20" PRIu64 " %16" PRIx64,
             mark->commits, mark->attempt, mark->job, check_of(mark));
    line[LINE_SIZE - 1] = '\n';
    int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_ok = fd >= 0 && pwrite(fd, line, LINE_SIZE, 0) == LINE_SIZE;
    if (fd >= 0) {
        close(fd);
    }
    if (!is_ok && !is_logged) {
        log_line(LOG_LEVEL_WARNING, "\"%s\" cannot be written: %s", path,
                 strerror(errno));
    }
    is_logged = !is_ok;
}
