/* SPDX-License-Identifier: Apache-2.0 */
/* relay.c: relays messages about leased jobs between the two sites of a lease.
 *
 * Sites have no connection to each other. A message names its target. It is relayed
 * unread, in the target's session and in the sender's name, if the two sites share a
 * lease in that direction and the run is the consumer's; so no site can speak about
 * another site's jobs. LEASE_LOAD and LEASE_LOAD_ASK name a lease, which must be one of
 * the two sites. Terminal data is bounded (streams.h). A message to a target that is
 * not connected is dropped: both ends send again until answered, and CONTRACT says
 * whether the provider is connected. */
#include "broker/broker_parts.h"

#include <string.h>

static bool is_stream(enum msg_kind kind)
{
    return kind == MSG_STREAM_DOWN || kind == MSG_STREAM_UP;
}

/* Those that are not about a run are about a lease. */
static bool is_about_run(enum msg_kind kind)
{
    return kind != MSG_LEASE_LOAD && kind != MSG_LEASE_LOAD_ASK;
}

/* All others begin with the run that they are about. */
_Static_assert(offsetof(struct msg_start, run) == 0, "run first");
_Static_assert(offsetof(struct msg_attempt, run) == 0, "run first");
_Static_assert(offsetof(struct msg_attempt_state, run) == 0, "run first");
_Static_assert(offsetof(struct msg_attempt_control, run) == 0, "run first");
_Static_assert(offsetof(struct msg_output_ask, run) == 0, "run first");
_Static_assert(offsetof(struct msg_output, run) == 0, "run first");
_Static_assert(offsetof(struct msg_stream_down, run) == 0, "run first");
_Static_assert(offsetof(struct msg_stream_up, run) == 0, "run first");

static const struct run_id *run_of(const struct msg *msg)
{
    return &msg->attempt.run;
}

/* The lease that the message names, or NULL. */
static const char *lease_of(const struct msg *msg)
{
    return msg->kind == MSG_START            ? msg->start.lease
           : msg->kind == MSG_LEASE_LOAD     ? msg->lease_load.lease
           : msg->kind == MSG_LEASE_LOAD_ASK ? msg->lease_load_ask.lease
                                             : NULL;
}

/* A lease that is named must be one of the two sites' own. One that has ended will do:
 * only its provider can refuse an attempt, so that the job may go elsewhere. */
static bool has_lease(const struct lease_table *leases, const struct member *provider,
                      const struct member *consumer, const struct msg *msg)
{
    const char *id = lease_of(msg);
    if (id == NULL) {
        return lease_table_has_pair(leases, provider, consumer);
    }
    const struct lease *lease = lease_table_find(leases, id);
    return lease != NULL && lease->provider == provider && lease->consumer == consumer;
}

static bool may_pass(struct broker *broker, struct member *sender,
                     const struct event *event)
{
    const struct msg *msg = event->msg;
    if (!is_stream(msg->kind)) {
        return true;
    }
    int n_bytes =
        msg->kind == MSG_STREAM_UP ? msg->stream_up.n_bytes : msg->stream_down.n_bytes;
    return streams_pass(&broker->streams, &sender->streams, n_bytes, event->now_ms);
}

static void relay(struct broker *broker, struct member *sender, bool is_from_consumer,
                  const struct event *event, struct effects *effects)
{
    const struct msg *msg = event->msg;
    const struct member *target = members_find(&broker->members, msg->site);
    if (target == NULL) {
        outbox_refuse(effects, event, ERR_NOT_FOUND, "\"%s\" is no member", msg->site);
        return;
    }
    const struct member *consumer = is_from_consumer ? sender : target;
    const struct member *provider = is_from_consumer ? target : sender;
    if (is_about_run(msg->kind) && strcmp(run_of(msg)->site, consumer->name) != 0) {
        outbox_refuse(effects, event, ERR_DENIED,
                      "a job of \"%s\", expected one of \"%s\"", run_of(msg)->site,
                      consumer->name);
        return;
    }
    if (!has_lease(&broker->leases, provider, consumer, msg)) {
        outbox_refuse(effects, event, ERR_DENIED,
                      "\"%s\" lends nothing to \"%s\" by such a lease", provider->name,
                      consumer->name);
        return;
    }
    if (target->is_here && may_pass(broker, sender, event)) {
        outbox_send(effects, target, sender->name, msg);
    }
}

void relay_to_provider(struct broker *broker, struct member *consumer,
                       const struct event *event, struct effects *effects)
{
    relay(broker, consumer, true, event, effects);
}

void relay_to_consumer(struct broker *broker, struct member *provider,
                       const struct event *event, struct effects *effects)
{
    relay(broker, provider, false, event, effects);
}
