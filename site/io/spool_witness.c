/* SPDX-License-Identifier: Apache-2.0 */
/* spool_witness.c: see spool_witness.h. */
#include "site/io/spool_witness.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "model/msg.h"
#include "sys/log.h"

/* What is left of runs, and how far the journal was (host/agent/mark_file.h). */
static const char *const patterns[] = {"hosts/*/mark", "hosts/*/runs/*"};

static void raise_mark(const char *path, struct journal_mark *mark)
{
    struct journal_mark one;
    FILE *file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &one.commits,
                               &one.attempt, &one.job) == 3) {
        msg_raise_mark(mark, &one);
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* A copy of the first path that has the pattern, NULL: there is none. */
static char *find(const char *spool, const char *pattern, struct journal_mark *mark)
{
    size_t size = strlen(spool) + strlen(pattern) + 2;
    char *path = mem_alloc(size, 1), *found = NULL;
    glob_t paths = {0};
    snprintf(path, size, "%s/%s", spool, pattern);
    if (glob(path, 0, NULL, &paths) == 0 && paths.gl_pathc > 0) {
        found = strdup(paths.gl_pathv[0]);
        for (size_t i = 0; i < paths.gl_pathc; i++) {
            raise_mark(paths.gl_pathv[i], mark);
        }
    }
    globfree(&paths);
    free(path);
    return found;
}

int spool_witness_check(const char *spool, const char *journal, bool accepts_loss,
                        struct err *err)
{
    struct journal_mark mark = {0};
    struct stat status;
    char *found = NULL;
    if (stat(journal, &status) == 0 && status.st_size > 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && found == NULL;
         i++) {
        found = find(spool, patterns[i], &mark);
    }
    if (found == NULL) {
        return 0;
    }
    err_set(err, ERR_IO,
            "\"%s\" is missing or empty, but \"%s\" is there: the journal had at least "
            "%" PRIu64 " commits, %" PRIu64 " attempts and %" PRIu64
            " jobs; restore a copy, or start once with --accept-loss",
            journal, found, mark.commits, mark.attempt, mark.job);
    free(found);
    if (accepts_loss) {
        log_line(LOG_LEVEL_WARNING, "%s: accepted", err->text);
        return 0;
    }
    return err->code;
}
