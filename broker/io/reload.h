/* SPDX-License-Identifier: Apache-2.0 */
/* reload.h: reads the broker's configuration again, on SIGHUP or when an administrator
 * asks.
 *
 * Everything is checked before anything is changed. Members, their keys, LOST_AFTER,
 * the tokens and the roles change while the broker runs. LISTEN, KEY, STATE and HTTP
 * are read at the start only, and another value is an error.
 *
 * Ownership: paths, setup and hub are borrowed, and outlive it; the access is replaced
 * and the old one freed.
 * Errors: ERR_PARSE with the first complaint, ERR_STATE, or what a key file or those of
 * the access say; then nothing has changed.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_RELOAD_H
#define SUBLET_BROKER_IO_RELOAD_H

#include "broker/broker_config.h"
#include "broker/io/http_access.h"
#include "broker/io/hub.h"

struct reload;
/* Registers itself with the hub's shell. */
struct reload *reload_new(char *const *paths, int n_paths,
                          const struct broker_setup *setup, struct hub *hub,
                          struct http_access **access);
void reload_free(struct reload *reload); /* NULL is fine */

/* SIGHUP: the result is logged. */
void reload_by_signal(struct reload *reload);

#endif
