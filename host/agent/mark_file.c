/* SPDX-License-Identifier: Apache-2.0 */
/* mark_file.c: see mark_file.h. */
#include "host/agent/mark_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/agent/host_spool.h"
#include "sys/log.h"

enum { PATH_SIZE = HOST_SPOOL_PATH_SIZE + sizeof("/mark.new") };

struct journal_mark mark_file_read(const char *spool)
{
    char path[PATH_SIZE];
    struct journal_mark mark = {0};
    snprintf(path, sizeof(path), "%s/mark", spool);
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT) {
        return mark;
    }
    int n_read = file == NULL ? 0
                              : fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64,
                                       &mark.commits, &mark.attempt, &mark.job);
    if (file != NULL) {
        fclose(file);
    }
    bool is_sane = n_read == 3 && mark.commits <= INT64_MAX &&
                   mark.attempt <= INT64_MAX && mark.job <= INT64_MAX;
    if (!is_sane) {
        log_line(LOG_LEVEL_WARNING, "\"%s\" cannot be read: it is written anew", path);
        return (struct journal_mark){0};
    }
    return mark;
}

void mark_file_write(const char *spool, const struct journal_mark *mark)
{
    static bool is_logged;
    char path[PATH_SIZE], fresh[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/mark", spool);
    snprintf(fresh, sizeof(fresh), "%s/mark.new", spool);
    FILE *file = fopen(fresh, "we");
    bool is_ok = file != NULL && fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                                         mark->commits, mark->attempt, mark->job) > 0;
    is_ok = file != NULL && fclose(file) == 0 && is_ok && rename(fresh, path) == 0;
    if (!is_ok && !is_logged) {
        log_line(LOG_LEVEL_WARNING, "\"%s\" cannot be written: %s", path,
                 strerror(errno));
    }
    is_logged = !is_ok;
}
