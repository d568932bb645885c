/* SPDX-License-Identifier: Apache-2.0 */
/* wire_monitor.c: see wire_monitor.h. */
#include "sys/wire/wire_monitor.h"

#include <stdatomic.h>
#include <string.h>

int wire_monitor_open(zsock_t *socket, int events, zsock_t **monitor, struct err *err)
{
    /* A thread of libzmq frees the name of a closed monitor late, so that no name is
     * used twice. */
    static atomic_uint n_opened;
    char endpoint[64];
    snprintf(endpoint, sizeof(endpoint), "inproc://monitor-%u",
             atomic_fetch_add(&n_opened, 1));
    *monitor = zsock_new(ZMQ_PAIR);
    if (*monitor == NULL) {
        return err_set(err, ERR_IO, "no socket: %s", zmq_strerror(zmq_errno()));
    }
    /* A high water mark would block libzmq's own thread. */
    zsock_set_rcvhwm(*monitor, 0);
    zsock_set_linger(*monitor, 0);
    if (zmq_socket_monitor(zsock_resolve(socket), endpoint, events) != 0 ||
        zsock_connect(*monitor, "%s", endpoint) != 0) {
        err_set(err, ERR_IO, "the connections of a socket cannot be monitored: %s",
                zmq_strerror(zmq_errno()));
        wire_monitor_close(socket, monitor);
        return ERR_IO;
    }
    return ERR_NONE;
}

/* The reports end before the monitor is closed: otherwise libzmq's thread waits for
 * ever for the reader of a report, and serves no connection of the process any more. */
void wire_monitor_close(zsock_t *socket, zsock_t **monitor)
{
    if (*monitor != NULL) {
        zmq_socket_monitor(zsock_resolve(socket), NULL, 0);
        zsock_destroy(monitor);
    }
}

/* An event is a number of 16 bits and a value of 32, in one frame; then an address. */
bool wire_monitor_next(zsock_t *monitor, struct wire_event *event)
{
    void *from = zsock_resolve(monitor);
    uint8_t frame[6];
    for (int got; (got = zmq_recv(from, frame, sizeof(frame), ZMQ_DONTWAIT)) >= 0;) {
        char address[256];
        (void)zmq_recv(from, address, sizeof(address), ZMQ_DONTWAIT);
        if (got == (int)sizeof(frame)) {
            memcpy(&event->event, frame, sizeof(event->event));
            memcpy(&event->value, frame + 2, sizeof(event->value));
            return true;
        }
    }
    return false;
}
