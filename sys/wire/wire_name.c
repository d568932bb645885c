/* SPDX-License-Identifier: Apache-2.0 */
/* wire_name.c: see wire_name.h. */
#include "sys/wire/wire_name.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void wire_name_init(struct wire_name *name, const char *endpoint)
{
    const char *host = strstr(endpoint, "://");
    host = host != NULL ? host + 3 : endpoint;
    const char *colon = strrchr(host, ':');
    size_t length = colon != NULL ? (size_t)(colon - host) : strlen(host);
    if (length >= 2 && host[0] == '[' && host[length - 1] == ']') {
        host++;
        length -= 2;
    }
    *name = (struct wire_name){.is_asked = false};
    snprintf(name->host, sizeof(name->host), "%.*s", (int)length, host);
    snprintf(name->port, sizeof(name->port), "%s", colon != NULL ? colon + 1 : "");
}

static void forget(struct addrinfo **found)
{
    if (*found != NULL) {
        freeaddrinfo(*found);
        *found = NULL;
    }
}

void wire_name_release(struct wire_name *name)
{
    const struct gaicb *asked[] = {&name->asked};
    while (name->is_asked && gai_error(&name->asked) == EAI_INPROGRESS &&
           gai_cancel(&name->asked) == EAI_NOTCANCELED) {
        gai_suspend(asked, 1, NULL);
    }
    forget(&name->asked.ar_result);
    forget(&name->found);
    name->is_asked = false;
}

void wire_name_ask(struct wire_name *name)
{
    struct gaicb *asked[] = {&name->asked};
    if (wire_name_look(name) == EAI_INPROGRESS) {
        return;
    }
    name->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    name->asked = (struct gaicb){
        .ar_name = name->host, .ar_service = name->port, .ar_request = &name->hints};
    name->is_asked = getaddrinfo_a(GAI_NOWAIT, asked, 1, NULL) == 0;
}

int wire_name_look(struct wire_name *name)
{
    int rc = name->is_asked ? gai_error(&name->asked) : EAI_AGAIN;
    if (rc == 0 && name->asked.ar_result != NULL) {
        forget(&name->found);
        name->found = name->asked.ar_result;
        name->asked.ar_result = NULL;
    }
    return rc;
}

const struct addrinfo *wire_name_address(const struct wire_name *name, int index)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const struct addrinfo *address = name->found;
        for (; address != NULL; address = address->ai_next) {
            if (address->ai_family == families[i] && index-- == 0) {
                return address;
            }
        }
    }
    return NULL;
}

bool wire_name_endpoint(const struct wire_name *name, int index, char *text,
                        size_t size)
{
    char host[64];
    const struct addrinfo *address = wire_name_address(name, index);
    bool is_there =
        address != NULL && getnameinfo(address->ai_addr, address->ai_addrlen, host,
                                       sizeof(host), NULL, 0, NI_NUMERICHOST) == 0;
    if (is_there) {
        bool is_ipv6 = address->ai_family == AF_INET6;
        snprintf(text, size, "tcp://%s%s%s:%s", is_ipv6 ? "[" : "", host,
                 is_ipv6 ? "]" : "", name->port);
    }
    return is_there;
}
