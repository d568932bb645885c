/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.h: the user accounts of this machine. A look-up may ask the network.
 * Layer: sys. */
#ifndef SUBLET_SYS_ACCOUNTS_H
#define SUBLET_SYS_ACCOUNTS_H

#include <stdint.h>

#include "base/arena.h"

/* The account that this process runs as; 0: root. */
int64_t accounts_own_uid(void);
/* Its name; its number if it has none. */
const char *accounts_own_name(struct arena *arena);
/* -1: there is no such account. */
int64_t accounts_find(const char *name);
/* The owner of a number from first to last, as user or group: an account of this
 * machine, or a range of /etc/subuid or /etc/subgid ("ana", "a range of bob in
 * /etc/subuid"). NULL: nobody. */
const char *accounts_meet(int64_t first, int64_t last, struct arena *arena);
/* The same of one file in the format of subuid(5); NULL too if there is no such file.
 */
const char *accounts_meet_subordinates(const char *path, int64_t first, int64_t last,
                                       struct arena *arena);

#endif
