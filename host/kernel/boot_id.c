/* SPDX-License-Identifier: Apache-2.0 */
/* boot_id.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void boot_id_read(char *boot_id, size_t size)
{
    const char *path = getenv("SUBLET_BOOT_ID_FILE");
    int file =
        open(path != NULL && path[0] != '\0' ? path : "/proc/sys/kernel/random/boot_id",
             O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, boot_id, size - 1);
    boot_id[length > 0 ? length : 0] = '\0';
    boot_id[strcspn(boot_id, "\n")] = '\0';
    if (file >= 0) {
        close(file);
    }
}
