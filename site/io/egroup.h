/* SPDX-License-Identifier: Apache-2.0 */
/* egroup.h: groups whose members a program tells (LSF's egroup).
 *
 * A row of section UserGroup or HostGroup with the members (!) is such a group. EGROUP
 * of section Site names the program, which is run as `EGROUP -u GROUP` or
 * `EGROUP -m GROUP` and prints names, separated by blanks or line ends.
 *
 * It is run for one group after the other, as a child beside the loop: at the start, at
 * each reload that somebody asks for, and every EGROUP_UPDATE_INTERVAL. What it printed
 * is kept in SPOOL/egroup and is what a configuration is read with, so that a program
 * that hangs or fails leaves the members as they are, also over a restart. If the
 * members of a group have changed, the configuration is loaded again. A group that was
 * never told has no members.
 *
 * Names that cannot be users, and hosts that section Host does not have, are left out,
 * and the log says so.
 *
 * Units: milliseconds. Ownership: the list is in conf's arena. Layer: site/io. */
#ifndef SUBLET_SITE_IO_EGROUP_H
#define SUBLET_SITE_IO_EGROUP_H

#include <czmq.h>

#include "site/config/site_config.h"

struct egroup_item {
    const char *name;
    bool is_hosts;
};

struct egroup_list {
    const struct egroup_item *items;
    int count;
    const char *program; /* EGROUP; NULL: there is none */
    int64_t interval_ms; /* 0: at the start and at reloads alone */
};

/* Puts the kept members in place of each (!) of a configuration that was checked. */
void egroup_fill(struct conf *conf, struct egroup_list *list);

struct egroup;
/* `reload` is called when members have changed. */
struct egroup *egroup_new(zloop_t *loop, const char *spool, void (*reload)(void *arg),
                          void *arg);
void egroup_free(struct egroup *egroup);
/* Another configuration is in force: its groups are asked for, unless it was loaded
 * because their members have changed. The list is borrowed until the next one. */
void egroup_change(struct egroup *egroup, const struct egroup_list *list);

#endif
