/* SPDX-License-Identifier: Apache-2.0 */
/* uplink.h: the site's connection to the broker: a DEALER with CURVE. The session
 * on it is site/site_uplink's.
 *
 * Of several brokers, or addresses of a broker's name, the next is tried when the
 * connection is refused or closed, and when the session asks for it: after silence, or
 * to the leader that a standby has named.
 *
 * Ownership: the shell is borrowed; the setup until uplink_new returns.
 * Errors: ERR_IO, ERR_PARSE, ERR_DENIED as wire.h has them, for keys and endpoint.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_UPLINK_H
#define SUBLET_SITE_IO_UPLINK_H

#include <czmq.h>

#include "site/config/site_config.h"
#include "site/site.h"
#include "sys/shell.h"

struct uplink;
/* Tells the site why there is no connection, where it knows. */
int uplink_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
               struct site *site, struct uplink **uplink, struct err *err) MUST_CHECK;
void uplink_free(struct uplink *uplink); /* NULL is fine */

#endif
