/* SPDX-License-Identifier: Apache-2.0 */
/* wire_tcp.h: the kernel's counters of a TCP connection. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_TCP_H
#define SUBLET_SYS_WIRE_WIRE_TCP_H

#include <stdbool.h>
#include <stdint.h>

/* A number that is unique among all sockets of this machine; 0 if `fd` is not a socket.
 */
uint64_t wire_tcp_cookie(int fd);

struct wire_tcp {
    uint64_t received; /* bytes, with those that were not read yet */
    uint64_t acked;    /* bytes sent that the other end's kernel has */
};

/* False if `fd` is no TCP connection. */
bool wire_tcp_ask(int fd, struct wire_tcp *tcp);
/* Bytes that were received and not read yet. */
uint64_t wire_tcp_unread(int fd);

#endif
