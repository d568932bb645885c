/* SPDX-License-Identifier: Apache-2.0 */
/* wire_clock.c: see wire.h. */
#include "sys/wire/wire.h"

#include <stdlib.h>

struct answer {
    int64_t asked_ms, now_ms, came_ms;
    bool is_refused;
};

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct answer *answer = arg;
    (void)from;
    if (msg->kind == MSG_CLOCK && msg->clock.asked_ms == answer->asked_ms) {
        answer->now_ms = msg->clock.now_ms;
        answer->came_ms = zclock_time();
    } else if (msg->kind == MSG_ERROR) {
        answer->is_refused = true;
    }
}

int wire_clock_ask(struct wire_client *client, int timeout_ms,
                   struct wire_clock *difference, struct err *err)
{
    const struct peer server = {.name = ""};
    struct answer answer = {.asked_ms = zclock_time()};
    struct msg ask = {
        .kind = MSG_CLOCK, .site = "", .clock = {.asked_ms = answer.asked_ms}};
    int rc = wire_client_send(client, &ask, err);
    int64_t deadline_ms = zclock_mono() + timeout_ms;
    while (rc == 0 && answer.now_ms == 0) {
        zmq_pollitem_t item = {.socket = zsock_resolve(wire_client_socket(client)),
                               .events = ZMQ_POLLIN};
        (void)zmq_poll(&item, 1, 50);
        (void)wire_client_drain(client, 16, &server, on_message, NULL, &answer);
        if (answer.is_refused) {
            rc = err_set(err, ERR_STATE, "its version is older and cannot tell it");
        } else if (answer.now_ms == 0 && zclock_mono() > deadline_ms) {
            rc = err_set(err, ERR_AWAY, "no answer in %d s", timeout_ms / 1000);
        }
    }
    if (rc == 0) {
        difference->error_ms = (answer.came_ms - answer.asked_ms + 1) / 2;
        difference->ahead_ms = (answer.asked_ms + answer.came_ms) / 2 - answer.now_ms;
    }
    return rc;
}

int wire_clock_check(const struct wire_clock *difference, const char *peer,
                     struct err *err)
{
    int64_t size_ms = llabs(difference->ahead_ms);
    if (size_ms - difference->error_ms <= WIRE_CLOCK_MAX_MS) {
        return 0;
    }
    return err_set(err, ERR_STATE,
                   "this machine's clock is %lld.%lld s %s that of %s; run on the "
                   "machine whose clock is wrong: timedatectl set-ntp true",
                   (long long)size_ms / 1000, (long long)size_ms % 1000 / 100,
                   difference->ahead_ms > 0 ? "ahead of" : "behind", peer);
}
