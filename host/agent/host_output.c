/* SPDX-License-Identifier: Apache-2.0 */
/* host_output.c: see host_output.h. */
#include "host/agent/host_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/run_dir/run_dir.h"

void host_output_read(const struct host_spool *spool, const char *name, bool has_begun,
                      const struct msg_output_ask *ask, uint8_t *bytes,
                      struct msg_output *output)
{
    char path[512];
    *output = (struct msg_output){.run = ask->run,
                                  .request = ask->request,
                                  .stream = ask->stream,
                                  .offset = ask->offset,
                                  .bytes = bytes,
                                  .is_end = true};
    if (!has_begun) {
        return;
    }
    snprintf(path, sizeof(path), "%s/%s", name,
             ask->stream == OUTPUT_OUT ? RUN_DIR_STDOUT : RUN_DIR_STDERR);
    int file = openat(spool->runs, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        output->is_gone = true;
    } else {
        size_t wanted = ask->n_bytes < OUTPUT_CHUNK_MAX ? (size_t)ask->n_bytes
                                                        : (size_t)OUTPUT_CHUNK_MAX;
        ssize_t got = pread(file, bytes, wanted, (off_t)ask->offset);
        output->n_bytes = got > 0 ? (int)got : 0;
        output->is_end = ask->offset + output->n_bytes >= status.st_size;
    }
    if (file >= 0) {
        close(file);
    }
}
