/* SPDX-License-Identifier: Apache-2.0 */
/* site_http.h: a site's HTTP port, read only: /healthz, and /metrics with what the
 * broker does not know of the site. Source: docs/design/interfaces.md "HTTP".
 *
 * Ownership: what it is given is borrowed and outlives it.
 * Errors: ERR_IO the port cannot be bound. Layer: site/io. */
#ifndef SUBLET_SITE_IO_SITE_HTTP_H
#define SUBLET_SITE_IO_SITE_HTTP_H

#include <czmq.h>

#include "site/config/site_config.h"
#include "site/io/usage_store.h"
#include "site/site.h"
#include "sys/shell.h"

struct site_http;
int site_http_new(zloop_t *loop, const struct site_setup *setup, struct site *site,
                  const struct shell *shell, struct usage_store *usage,
                  struct site_http **http, struct err *err) MUST_CHECK;
void site_http_free(struct site_http *http); /* NULL is fine */

#endif
