/* SPDX-License-Identifier: Apache-2.0 */
/* account.h: whom a run runs as, and becoming that account.
 *
 * Rules: without root's powers only the daemon's own account; a leased run never as
 * root. The look-up may ask the network for a while: it happens in the guard, not the
 * daemon.
 *
 * Errors: ERR_NOT_FOUND no such account, ERR_DENIED what the rules forbid.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_KERNEL_ACCOUNT_H
#define SUBLET_HOST_KERNEL_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct account {
    bool is_other; /* than the guard's own: the ids below are to be taken */
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* heap */
    int n_groups;
};

/* `name` "": the guard's own. */
int account_find(const char *name, bool is_leased, struct account *account,
                 struct err *err) MUST_CHECK;
void account_release(struct account *account);

/* Takes the ids for good; 0 or errno. In the job's process, before exec. */
int account_become(const struct account *account);

#endif
