/* SPDX-License-Identifier: Apache-2.0 */
/* boot_id.h: where it is written which boot of the machine this is: by the kernel, or
 * in the file that SUBLET_BOOT_ID_FILE names, for tests and for containers, where the
 * kernel's may outlive the container with all its processes.
 * sublet-host and its guards must agree: guards inherit the environment.
 * Layer: host (libc only). */
#ifndef SUBLET_HOST_KERNEL_BOOT_ID_H
#define SUBLET_HOST_KERNEL_BOOT_ID_H

#include <stdlib.h>

static inline const char *boot_id_path(void)
{
    const char *path = getenv("SUBLET_BOOT_ID_FILE");
    return path != NULL && path[0] != '\0' ? path : "/proc/sys/kernel/random/boot_id";
}

#endif
