/* SPDX-License-Identifier: Apache-2.0 */
/* relay.c: relays messages about leased jobs between the two sites of a lease.
 *
 * Sites have no connection to each other. A message names its target. Its body is not
 * opened (proto/codec_relay.h): the same bytes go on, in the target's session and in
 * the sender's name, if the two sites share a lease in that direction and the run is
 * the consumer's; so no site can speak about another site's jobs. A lease that is named
 * must be one of the two sites. What settles an attempt needs no lease: a broker that
 * was restored may not know it any more, and else the job would never end. Both sites
 * compare such a message with their own records. Terminal data is bounded (streams.h).
 * A message to a target that is not connected is dropped: both ends send again until
 * answered, and CONTRACT says whether the provider is connected. */
#include "broker/broker_parts.h"

#include <assert.h>
#include <string.h>

/* It starts nothing, and tells of nothing that its receiver has not on record. */
static bool settles_attempt(enum msg_kind kind)
{
    switch ((int)kind) {
    case MSG_ATTEMPT_ASK:
    case MSG_ATTEMPT_STATE:
    case MSG_ATTEMPT_ACK:
    case MSG_ATTEMPT_CONTROL:
    case MSG_OUTPUT_ASK:
    case MSG_OUTPUT:
        return true;
    default:
        return false;
    }
}

/* A lease that is named must be one of the two sites' own. One that has ended will do:
 * only its provider can refuse an attempt, so that the job may go elsewhere. */
static bool has_lease(const struct lease_table *leases, const struct member *provider,
                      const struct member *consumer, const struct msg *msg)
{
    if (msg->relayed.lease == NULL) {
        return settles_attempt(msg->kind) ||
               lease_table_has_pair(leases, provider, consumer);
    }
    const struct lease *lease = lease_table_find(leases, msg->relayed.lease);
    return lease != NULL && lease->provider == provider && lease->consumer == consumer;
}

static bool may_pass(struct broker *broker, struct member *sender,
                     const struct event *event)
{
    const struct msg *msg = event->msg;
    if (msg->kind != MSG_STREAM_DOWN && msg->kind != MSG_STREAM_UP) {
        return true;
    }
    return streams_pass(&broker->streams, &sender->streams, msg->relayed.n_data,
                        event->now_ms);
}

static void relay(struct broker *broker, struct member *sender, bool is_from_consumer,
                  const struct event *event, struct effects *effects)
{
    const struct msg *msg = event->msg;
    assert(msg->is_relayed);
    const struct member *target = members_find(&broker->members, msg->site);
    if (target == NULL) {
        outbox_refuse(effects, event, ERR_NOT_FOUND, "\"%s\" is not a member",
                      msg->site);
        return;
    }
    const struct member *consumer = is_from_consumer ? sender : target;
    const struct member *provider = is_from_consumer ? target : sender;
    const char *run_site = msg->relayed.run_site;
    if (run_site != NULL && strcmp(run_site, consumer->name) != 0) {
        outbox_refuse(effects, event, ERR_DENIED,
                      "a job of \"%s\", expected one of \"%s\"", run_site,
                      consumer->name);
        return;
    }
    if (!has_lease(&broker->leases, provider, consumer, msg)) {
        outbox_refuse(effects, event, ERR_DENIED, "\"%s\" has no such lease to \"%s\"",
                      provider->name, consumer->name);
        return;
    }
    if (target->is_here && may_pass(broker, sender, event)) {
        outbox_send(effects, target, sender->name, msg);
    }
}

void relay_to_other(struct broker *broker, struct member *member,
                    const struct event *event, struct effects *effects)
{
    const char *id = event->msg->relayed.lease; /* NULL: its receiver refuses it */
    const struct lease *lease =
        id != NULL ? lease_table_find(&broker->leases, id) : NULL;
    relay(broker, member, lease != NULL && lease->consumer == member, event, effects);
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
