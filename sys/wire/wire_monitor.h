/* SPDX-License-Identifier: Apache-2.0 */
/* wire_monitor.h: what libzmq reports of the connections of a socket. Layer: sys.
 *
 * The source of the events is zmq_socket_monitor(3). */
#ifndef SUBLET_SYS_WIRE_WIRE_MONITOR_H
#define SUBLET_SYS_WIRE_WIRE_MONITOR_H

#include <czmq.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* From now on libzmq reports `events` (ZMQ_EVENT_*) of `socket` to *monitor, which the
 * caller reads and closes before `socket`. ERR_IO; *monitor is NULL then. */
int wire_monitor_open(zsock_t *socket, int events, zsock_t **monitor, struct err *err);

/* NULL in *monitor is allowed. */
void wire_monitor_close(zsock_t *socket, zsock_t **monitor);

struct wire_event {
    uint16_t event; /* ZMQ_EVENT_* */
    uint32_t value; /* depends on the event */
};

/* The next event that is here already; false if there is none. Never waits. */
bool wire_monitor_next(zsock_t *monitor, struct wire_event *event);

#endif
