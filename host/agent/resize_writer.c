/* SPDX-License-Identifier: Apache-2.0 */
/* resize_writer.c: see resize_writer.h. */
#include "host/agent/resize_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/spec_writer.h"
#include "host/run_dir/run_dir.h"

#define NEW_FILE RUN_DIR_RESIZE ".new"

enum { NUMBER_END_MAX = 64 }; /* of the file, up to behind its number */

static void put_all(FILE *to, const struct msg_run_resize *resize)
{
    const char *event = resize->event == RESIZE_GROW ? "grow" : "shrink";
    fprintf(to, "%s%cnumber=%" PRIu64 "%cn_slots=%d%ccommand=%s%c", RUN_DIR_RESIZE_HEAD,
            '\0', resize->number, '\0', msg_sum_slots(resize->all, resize->n_all), '\0',
            resize->command, '\0');
    fputs("env=", to);
    spec_writer_put_hosts(to, "LSB_HOSTS", resize->all, resize->n_all);
    fputs("env=", to);
    spec_writer_put_counts(to, "LSB_MCPU_HOSTS", resize->all, resize->n_all);
    fputs("told=", to);
    spec_writer_put_counts(to, "LSB_RESIZE_HOSTS", resize->hosts, resize->n_hosts);
    fprintf(to, "told=LSB_RESIZE_EVENT=%s%c", event, '\0');
    fprintf(to, "told=LSB_RESIZE_NOTIFY_OK=0%c", '\0');
    fprintf(to, "told=LSB_RESIZE_NOTIFY_FAIL=1%cend=%c", '\0', '\0');
}

static int write_file(int dir, const char *bytes, size_t length, struct err *err)
{
    if (spec_writer_write_file(dir, NEW_FILE, O_TRUNC, bytes, length, "resize", err) <
        0) {
        return err->code;
    }
    return renameat(dir, NEW_FILE, dir, RUN_DIR_RESIZE) == 0
               ? 0
               : err_set(err, ERR_IO, "cannot write the run's resize: %s",
                         strerror(errno));
}

int resize_writer_write(int dir, const struct msg_run_resize *resize, struct err *err)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&bytes, &length);
    if (to == NULL) {
        abort();
    }
    put_all(to, resize);
    if (fclose(to) != 0) {
        abort(); /* out of memory */
    }
    int code = write_file(dir, bytes, length, err);
    free(bytes);
    return code;
}

bool resize_writer_is_written(int dir, uint64_t number)
{
    char wanted[NUMBER_END_MAX], found[NUMBER_END_MAX];
    int length = snprintf(wanted, sizeof(wanted), "%s%cnumber=%" PRIu64 "%c",
                          RUN_DIR_RESIZE_HEAD, '\0', number, '\0');
    int file = openat(dir, RUN_DIR_RESIZE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_same = file >= 0 && read(file, found, (size_t)length) == length &&
                   memcmp(found, wanted, (size_t)length) == 0;
    if (file >= 0) {
        close(file);
    }
    return is_same;
}
