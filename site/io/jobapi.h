/* SPDX-License-Identifier: Apache-2.0 */
/* jobapi.h: the socket by which the command line reaches its site. The kernel says who
 * is calling; root, the daemon's own user and ADMINS are the site's administrators.
 *
 * Ownership: loop and shell are borrowed; the setup as long as the api lives.
 * Errors: ERR_EXISTS where another daemon listens at the path, ERR_IO.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOBAPI_H
#define SUBLET_SITE_IO_JOBAPI_H

#include "site/config/site_config.h"
#include "site/io/shell.h"

struct jobapi;
int jobapi_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
               struct jobapi **api, struct err *err) MUST_CHECK;
/* Other ADMINS; the setup is borrowed. */
void jobapi_change(struct jobapi *api, const struct site_setup *setup);
void jobapi_free(struct jobapi *api); /* NULL is fine */

#endif
