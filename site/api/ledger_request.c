/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_request.c: the books of a lease: this site's, its other site's (through the
 * broker, which relays it as all else between the sites of a lease) and the broker's.
 */
#include "site/api/site_api.h"

#include <stdlib.h>
#include <string.h>

#include "model/ledger_page.h"

/* A person at a terminal does not wait longer. */
enum { LEDGER_WAIT_MS = 10000 };

/* The other site of the lease; NULL: it is not a lease of this site. */
static const char *other_site(const struct site_config *config, const char *lease,
                              struct arena *arena)
{
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    const char *sites[] = {arena_strn(arena, lease, strcspn(lease, "/")),
                           arena_strn(arena, consumer, length)};
    for (int i = 0; i < 2; i++) {
        if (strcmp(sites[i], config->name) == 0 && sites[1 - i][0] != '\0') {
            return sites[1 - i];
        }
    }
    return NULL;
}

static void ask_journal(const struct peer *to, uint64_t session,
                        const struct msg_query *query, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct effect *effect = effects_add(effects, EFFECT_HISTORY);
    effect->history.to = *to;
    effect->history.to.name = arena_str(arena, to->name);
    effect->history.session = session;
    effect->history.query = (struct msg_query){.request = query->request,
                                               .kind = QUERY_LEDGER,
                                               .name = arena_str(arena, query->name),
                                               .host = arena_str(arena, query->host),
                                               .by = arena_str(arena, query->by),
                                               .after = arena_str(arena, query->after),
                                               .from_ms = query->from_ms,
                                               .to_ms = query->to_ms};
}

static void ask_other(struct site_api *api, const struct peer *from,
                      const struct msg_query *query, const char *site,
                      struct effects *effects)
{
    struct waiter waiter = {.kind = WAITER_BROKER,
                            .key = waiters_next_request(api->waiters),
                            .link = from->link,
                            .request = query->request,
                            .deadline_ms = api->now_ms + LEDGER_WAIT_MS};
    if (!site_uplink_is_up(api->uplink)) {
        effects_reply_error(effects, from, query->request, ERR_AWAY, "%s",
                            site_uplink_trouble(api->uplink));
        return;
    }
    if (!waiters_add(api->waiters, &waiter)) {
        effects_reply_error(effects, from, query->request, ERR_FULL,
                            "too many clients wait for the broker, try again later");
        return;
    }
    struct msg msg = {.kind = MSG_LEDGER_ASK, .site = site};
    msg.ledger_ask = (struct msg_ledger_ask){.request = waiter.key,
                                             .lease = query->name,
                                             .from_ms = query->from_ms,
                                             .to_ms = query->to_ms,
                                             .detail = ledger_page_detail(query->by),
                                             .after = strtoull(query->after, NULL, 10)};
    site_uplink_send(api->uplink, &msg, effects);
}

void ledger_request(struct site_api *api, const struct peer *from,
                    const struct msg *msg, struct effects *effects)
{
    const struct msg_query *query = &msg->query;
    const char *site = other_site(api->config, query->name, &effects->arena);
    if (!permission_is_admin(api->config, from)) {
        effects_reply_error(effects, from, query->request, ERR_DENIED,
                            "only an administrator of the site may compare its books "
                            "with those of others");
    } else if (site == NULL) {
        effects_reply_error(effects, from, query->request, ERR_NOT_FOUND,
                            "\"%s\" is no lease of this site", query->name);
    } else if (strcmp(query->host, "broker") == 0) {
        forward_request(api, from, msg, effects);
    } else if (strcmp(query->host, "other") == 0) {
        ask_other(api, from, query, site, effects);
    } else {
        ask_journal(from, 0, query, effects);
    }
}

void ledger_request_asked(struct site_api *api, const struct msg *msg,
                          struct effects *effects)
{
    const struct msg_ledger_ask *ask = &msg->ledger_ask;
    const char *site = other_site(api->config, ask->lease, &effects->arena);
    static const char *const details[] = {
        [LEDGER_HOURS] = "", [LEDGER_RUNS] = "runs", [LEDGER_SPLITS] = "splits"};
    const struct msg_query query = {
        .request = ask->request,
        .name = ask->lease,
        .host = msg->site,
        .by = details[ask->detail],
        .after = arena_printf(&effects->arena, "%llu", (unsigned long long)ask->after),
        .from_ms = ask->from_ms,
        .to_ms = ask->to_ms};
    const struct peer broker = {.kind = PEER_BROKER, .name = ""};
    if (site != NULL && strcmp(site, msg->site) == 0) {
        ask_journal(&broker, site_uplink_session(api->uplink), &query, effects);
    }
}

void ledger_request_answered(struct site_api *api, const struct msg *msg,
                             struct effects *effects)
{
    const struct msg_ledger *ledger = &msg->ledger;
    const char *site = other_site(api->config, ledger->lease, &effects->arena);
    struct waiter waiter;
    if (site != NULL && strcmp(site, msg->site) == 0 &&
        waiters_take(api->waiters, WAITER_BROKER, ledger->request, &waiter)) {
        const struct peer to = {.kind = PEER_CLIENT, .name = "", .link = waiter.link};
        effects_reply(effects, &to, waiter.request, "",
                      ledger_page_show(ledger, &effects->arena), "");
    }
}
