/* SPDX-License-Identifier: Apache-2.0 */
/* wire_tcp.c: see wire_tcp.h. The kernel's own header has the fields that count bytes,
 * libc's has not. */
#include "sys/wire/wire_tcp.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { LEVEL_TCP = 6 }; /* IPPROTO_TCP, whose header excludes the one above */

uint64_t wire_tcp_cookie(int fd)
{
    uint64_t cookie = 0;
    socklen_t size = sizeof(cookie);
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

bool wire_tcp_ask(int fd, struct wire_tcp *tcp)
{
    struct tcp_info info;
    socklen_t size = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, LEVEL_TCP, TCP_INFO, &info, &size) != 0) {
        return false;
    }
    tcp->received = info.tcpi_bytes_received;
    tcp->acked = info.tcpi_bytes_acked;
    return true;
}

uint64_t wire_tcp_unread(int fd)
{
    int n_unread = 0;
    return ioctl(fd, SIOCINQ, &n_unread) == 0 && n_unread > 0 ? (uint64_t)n_unread : 0;
}
