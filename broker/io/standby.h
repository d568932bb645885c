/* SPDX-License-Identifier: Apache-2.0 */
/* standby.h: a broker before it leads, and when it has to stop leading.
 *
 * Of several brokers on one database one leads. The others wait here: they refuse
 * sessions with the leader's endpoint, and answer HTTP from a copy of the store, which
 * they read again when the leader has changed it. Nothing of the copy is used when they
 * lead. A broker that is dismissed is started anew. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STANDBY_H
#define SUBLET_BROKER_IO_STANDBY_H

#include <czmq.h>

#include "broker/io/door.h"
#include "broker/io/store/store.h"

/* Opens the store. A database that cannot be reached is waited for, with a line in the
 * log. Returns 1 if it is open, 0 if the loop was ended, or an error. */
int standby_open(zloop_t *loop, const char *state, bool accepts_loss,
                 struct store **store, struct err *err) MUST_CHECK;

/* Waits until this broker leads ("ready" is said once it waits). Its name for the
 * others is LISTEN, with the machine's name for an address that means all. Then the
 * lead is renewed as long as the loop runs. Returns 1 if it leads, 0 if the loop was
 * ended, or an error of the HTTP port. */
int standby_wait(zloop_t *loop, const struct broker_setup *setup, struct store *store,
                 struct door *door, char **argv, struct err *err) MUST_CHECK;

/* This process starts anew, as the program that it is with the arguments that it has:
 * whatever it had in memory is gone. */
_Noreturn void standby_begin_anew(char **argv);

#endif
