/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd_request.h: what a leased job may ask of sublet-slurmd, and the accounts that a
 * slurmd gets: both are read and judged here, before anything is started.
 *
 * A request is one line, "NODE CONF": the node is "sublet" and the number of the job,
 * CONF is "CPUs=N Feature=sublet,PROVIDER". Nothing else of slurmd's options can be
 * asked for.
 *
 * Accounts are ranges "INSIDE:OUTSIDE:COUNT", separated by commas: the numbers that
 * accounts and groups have for slurmd, and those that they have on this host. Or
 * "root": the same numbers, without a user namespace.
 *
 * Errors: ERR_PARSE for another form; ERR_BOUNDS for a range without accounts, beyond
 * ID_MAX or above another one, if root of this host is in one, or if no range has the
 * root of slurmd. Source: Slurm's slurmd(8), Linux' user_namespaces(7). Layer: host. */
#ifndef SUBLET_HOST_SLURMD_SLURMD_REQUEST_H
#define SUBLET_HOST_SLURMD_SLURMD_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    SLURMD_REQUEST_SIZE = 128, /* a line with its newline fits, and a NUL */
    SLURMD_RANGES_MAX = 8,
    SLURMD_ID_MAX = INT32_MAX,
};

struct slurmd_request {
    char node[32];
    char conf[SLURMD_REQUEST_SIZE];
};

struct slurmd_range {
    int64_t inside, outside, count;
};

struct slurmd_accounts {
    struct slurmd_range ranges[SLURMD_RANGES_MAX];
    int n_ranges; /* 0: those of this host, root too */
};

/* `line` ends with its newline. */
int slurmd_request_read(const char *line, struct slurmd_request *request,
                        struct err *err) MUST_CHECK;
int slurmd_request_accounts(const char *text, struct slurmd_accounts *accounts,
                            struct err *err) MUST_CHECK;

#endif
