/* SPDX-License-Identifier: Apache-2.0 */
/* store_lead.c: see store_lead.h. */
#include "broker/io/store/store_lead.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/store/store_parts.h"
#include "broker/leader/leader.h"
#include "sys/daemon.h"

void store_lead_set_self(struct store *store, const char *endpoint)
{
    free(store->endpoint);
    store->endpoint = strdup(endpoint);
    store->opened_ms = daemon_now_ms();
}

int store_lead_try(struct store *store, struct arena *arena,
                   struct store_leader *leader, struct err *err)
{
    return store->ops->try_lead != NULL
               ? store->ops->try_lead(store, arena, leader, err)
               : 1;
}

void store_lead_set_dismissed(struct store *store, store_dismissed_fn *fn, void *arg)
{
    store->dismissed = fn;
    store->dismissed_arg = arg;
}

void store_lead_renew(struct store *store)
{
    struct err err;
    if (store->ops->renew_lead != NULL && store->ops->renew_lead(store, &err) < 0 &&
        store->dismissed != NULL) {
        store->dismissed(store->dismissed_arg, &err);
    }
}

void store_lead_leave(struct store *store, bool steps_down)
{
    if (store->ops->leave_lead != NULL) {
        store->ops->leave_lead(store, steps_down);
    }
}

/* ---------------------------------------------------------------- all brokers */

struct broker_list {
    struct arena *arena;
    struct value *rows;
    const char *store;
};

static void add_broker(void *arg, const struct store_broker *broker)
{
    struct broker_list *list = arg;
    struct arena *arena = list->arena;
    struct value *row = value_add(arena, list->rows, NULL, value_object(arena));
    value_add_text(arena, row, "name", arena_str(arena, broker->name));
    value_add_text(arena, row, "endpoint", arena_str(arena, broker->endpoint));
    value_add_text(arena, row, "role", broker->leads ? "leader" : "standby");
    value_add_int(arena, row, "term", broker->term);
    value_add_duration(arena, row, "lag_s", broker->lag_ms);
    value_add_text(arena, row, "store", list->store);
    value_add_instant(arena, row, "since", broker->since_ms);
}

static int each_broker(struct store *store, store_broker_fn *fn, void *arg,
                       struct err *err)
{
    if (store->ops->list_brokers != NULL) {
        return store->ops->list_brokers(store, fn, arg, err);
    }
    char name[HOST_NAME_MAX + 1] = "";
    gethostname(name, sizeof(name) - 1);
    fn(arg, &(struct store_broker){.endpoint = store->endpoint,
                                   .name = name,
                                   .leads = true,
                                   .since_ms = store->opened_ms});
    return 0;
}

int store_lead_list(struct store *store, struct arena *arena, struct value **value,
                    struct err *err)
{
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    struct broker_list list = {
        .arena = arena,
        .rows = value_add(arena, *value, "brokers", value_array(arena)),
        .store = store_db(store) != NULL ? "sqlite" : "postgresql"};
    return each_broker(store, add_broker, &list, err);
}

static void add_to_state(void *arg, const struct store_broker *broker)
{
    struct store_lead_state *state = arg;
    state->n_standbys += !broker->leads && broker->lag_ms < LEADER_STALE_MS;
    state->term = broker->leads ? broker->term : state->term;
}

int store_lead_read(struct store *store, struct store_lead_state *state,
                    struct err *err)
{
    *state = (struct store_lead_state){0};
    return each_broker(store, add_to_state, state, err);
}
