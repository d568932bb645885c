/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_guests.h: borrowed hosts as nodes of the site's own Slurm cluster: joins the
 * step machine of slurm/slurm_borrow.h with the site and with Slurm's commands.
 *
 * It is a client of the site like the command line: a guest is a job that it submits as
 * the daemon's own user to the queue of the partition's name. Whatever runs slurmd in
 * that queue is taken for a guest, so that guests are found again after a restart.
 *
 * Ownership: what it is given is borrowed. Layer: site/io. */
#ifndef SUBLET_SITE_IO_SLURM_GUESTS_H
#define SUBLET_SITE_IO_SLURM_GUESTS_H

#include <czmq.h>

#include "site/config/site_config.h"
#include "site/site.h"
#include "sys/shell.h"

struct slurm_guests;
/* NULL: the site has no SLURM_BORROW_PARTITION. */
struct slurm_guests *slurm_guests_new(zloop_t *loop, const struct site_setup *setup,
                                      struct site *site, struct shell *shell);
void slurm_guests_free(struct slurm_guests *guests); /* NULL is fine */
/* Another configuration; the old one may be freed after that. */
void slurm_guests_reload(struct slurm_guests *guests, const struct site_setup *setup);

/* A message to a client. False: it is for another one. `guests` NULL is fine. */
bool slurm_guests_take(struct slurm_guests *guests, const struct peer *to,
                       const struct msg *msg);

#endif
