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

/* ---------------------------------------------------------------- a copy to send */

static void own_text(struct arena *arena, const char **text)
{
    *text = arena_str(arena, *text);
}

static void own_start(struct arena *arena, struct msg_start *start)
{
    own_text(arena, &start->lease);
    own_text(arena, &start->job);
    struct host_slots *hosts =
        arena_alloc(arena, (size_t)start->n_hosts, sizeof(*hosts));
    for (int i = 0; i < start->n_hosts; i++) {
        hosts[i] = start->hosts[i];
        own_text(arena, &hosts[i].host);
    }
    start->hosts = hosts;
    /* row_copy is the one place that knows all that a job_spec points to. */
    struct row job = {.kind = ROW_JOB, .job.spec = start->spec}, copy;
    row_copy(arena, &job, &copy);
    start->spec = copy.job.spec;
}

static void own_attempt_state(struct arena *arena, struct msg_attempt_state *state)
{
    own_text(arena, &state->exit.text);
    own_text(arena, &state->reason);
}

static const struct load_value *
own_values(struct arena *arena, const struct load_value *values, int n_values)
{
    struct load_value *owned = arena_alloc(arena, (size_t)n_values, sizeof(*owned));
    for (int i = 0; i < n_values; i++) {
        owned[i] = values[i];
        own_text(arena, &owned[i].name);
        own_text(arena, &owned[i].value);
    }
    return owned;
}

static void own_lease_load(struct arena *arena, struct msg_lease_load *load)
{
    own_text(arena, &load->lease);
    struct lease_load_host *hosts =
        arena_alloc(arena, (size_t)load->n_hosts, sizeof(*hosts));
    for (int i = 0; i < load->n_hosts; i++) {
        hosts[i] = load->hosts[i];
        own_text(arena, &hosts[i].host);
        hosts[i].values = own_values(arena, hosts[i].values, hosts[i].n_values);
        hosts[i].thresholds =
            own_values(arena, hosts[i].thresholds, hosts[i].n_thresholds);
    }
    load->hosts = hosts;
}

static void own_stream(struct arena *arena, struct msg *msg)
{
    if (msg->kind == MSG_STREAM_DOWN) {
        struct msg_stream_down *down = &msg->stream_down;
        own_text(arena, &down->job);
        down->bytes = arena_copy(arena, down->bytes, (size_t)down->n_bytes);
    } else {
        struct msg_stream_up *up = &msg->stream_up;
        own_text(arena, &up->job);
        own_text(arena, &up->note);
        up->bytes = arena_copy(arena, up->bytes, (size_t)up->n_bytes);
    }
}

/* What the message points to ends with the step; the copy's is the effects'. */
static struct msg own_msg(struct arena *arena, const struct msg *from)
{
    struct msg msg = *from;
    if (is_about_run(msg.kind)) {
        own_text(arena, &msg.attempt.run.site);
    } else if (msg.kind == MSG_LEASE_LOAD) {
        own_lease_load(arena, &msg.lease_load);
    } else {
        own_text(arena, &msg.lease_load_ask.lease);
    }
    if (msg.kind == MSG_START) {
        own_start(arena, &msg.start);
    } else if (msg.kind == MSG_ATTEMPT_STATE) {
        own_attempt_state(arena, &msg.attempt_state);
    } else if (msg.kind == MSG_OUTPUT) {
        msg.output.bytes =
            arena_copy(arena, msg.output.bytes, (size_t)msg.output.n_bytes);
    } else if (is_stream(msg.kind)) {
        own_stream(arena, &msg);
    }
    return msg;
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
        struct msg copy = own_msg(&effects->arena, msg);
        outbox_send(effects, target, sender->name, &copy);
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
