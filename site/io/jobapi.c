/* SPDX-License-Identifier: Apache-2.0 */
/* jobapi.c: see jobapi.h. */
#include "site/io/jobapi.h"

#include <stdlib.h>
#include <unistd.h>

#include "sys/local/local.h"

enum {
    /* Of a daemon that runs the jobs of all users; else only its own user's. */
    MODE_FOR_ALL = 0666,
    MODE_FOR_OWNER = 0600,
};

struct jobapi {
    struct shell *shell;
    struct local_server *server;
};

static void take_begin(void *arg)
{
    (void)arg;
}

static void take_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct jobapi *api = arg;
    shell_take_message(api->shell, from, msg);
}

static void take_gone(void *arg, const struct peer *from)
{
    struct jobapi *api = arg;
    shell_take_gone(api->shell, from);
}

static void take_end(void *arg)
{
    struct jobapi *api = arg;
    shell_end_batch(api->shell);
}

static int send_to_client(void *arg, const struct peer *to, const struct msg *msg,
                          struct err *err)
{
    struct jobapi *api = arg;
    return local_server_send(api->server, to, msg, err);
}

int jobapi_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
               struct jobapi **api, struct err *err)
{
    struct jobapi *made = mem_alloc(1, sizeof(*made));
    made->shell = shell;
    struct local_handler handler = {
        .begin = take_begin,
        .message = take_message,
        .gone = take_gone,
        .end = take_end,
        .arg = made,
    };
    int mode = geteuid() == 0 ? MODE_FOR_ALL : MODE_FOR_OWNER;
    int rc = local_server_new(loop, setup->socket, mode, &handler, &made->server, err);
    if (rc < 0) {
        free(made);
        return rc;
    }
    shell_route(shell, PEER_CLIENT, send_to_client, made);
    *api = made;
    return 0;
}

void jobapi_free(struct jobapi *api)
{
    if (api == NULL) {
        return;
    }
    local_server_free(api->server);
    free(api);
}
