/* SPDX-License-Identifier: Apache-2.0 */
/* borrowed_load.c: see site_resource.h. */
#include "site/resource/site_resource.h"

#include <string.h>

enum {
    LEASES_PER_TICK = 64,    /* reported, or asked about */
    ANSWERS_PER_SECOND = 64, /* a consumer without an answer asks again */
    SOON_MS = 1000,
    CHECK_MS = 100,         /* many contracts that come together are checked once */
    MESSAGE_BYTES = 150000, /* of names and values: in all, below a frame */
    VALUE_BYTES = 12,       /* of a value, besides its texts */
};

void borrowed_load_init(struct borrowed_load *load,
                        const struct borrowed_load_parts *parts)
{
    *load = (struct borrowed_load){.parts = *parts, .ask_ms = INT64_MAX};
}

void borrowed_load_reload(struct borrowed_load *load, const struct site_config *config,
                          struct host_resources *host_resources)
{
    load->parts.config = config;
    load->parts.host_resources = host_resources;
}

/* ---------------------------------------------------------------- provider */

/* The text may be sent; other texts are of use to this site alone. */
static bool is_plain(const char *text)
{
    size_t length = 0;
    while (text[length] >= ' ' && text[length] < 0x7f) {
        length++;
    }
    return text[length] == '\0' && length < LOAD_VALUE_SIZE;
}

static const char *text_of(struct arena *arena, const struct resource_table *table,
                           int row, int id)
{
    switch (resources_at(resource_table_resources(table), id)->type) {
    case RESOURCE_NUMERIC:
        return arena_printf(arena, "%.15g", resource_table_number(table, row, id));
    case RESOURCE_BOOLEAN:
        return resource_table_flag(table, row, id) ? "1" : "0";
    case RESOURCE_STRING:
        break;
    }
    return arena_str(arena, resource_table_text(table, row, id));
}

/* Adds the value unless there is no room for it; returns its size in bytes. */
static size_t add_value(struct lease_load_host *host, struct load_value *values,
                        const struct load_value *value)
{
    if (host->n_values == LOAD_VALUES_MAX || !is_plain(value->value)) {
        return 0;
    }
    values[host->n_values++] = *value;
    return strlen(value->name) + strlen(value->value) + VALUE_BYTES;
}

/* All values of an own host; returns their size in bytes. Exclusive resources that only
 * the host knows are told as well, because they hold there, too. */
static size_t list_values(const struct borrowed_load *load, struct arena *arena,
                          int row, struct lease_load_host *host)
{
    const struct resource_table *table =
        host_resources_values(load->parts.host_resources);
    const struct resources *resources =
        host_resources_catalogue(load->parts.host_resources);
    struct load_value *values = arena_alloc(arena, LOAD_VALUES_MAX, sizeof(*values));
    size_t n_bytes = strlen(host->host) + VALUE_BYTES;
    char *undefined = arena_str(arena, resource_table_undefined(table, row)), *name;
    host->values = values;
    while ((name = strsep(&undefined, " ")) != NULL) {
        if (name[0] != '\0') {
            n_bytes += add_value(host, values, &(struct load_value){name, "1", true});
        }
    }
    for (int id = 0; id < resources_count(resources); id++) {
        bool is_seen_there = id == RESOURCE_STATUS || id == RESOURCE_HNAME ||
                             id == RESOURCE_SLOTS || id == RESOURCE_MAXSLOTS;
        if (!is_seen_there && resource_table_has(table, row, id)) {
            n_bytes += add_value(
                host, values,
                &(struct load_value){
                    .name = arena_str(arena, resources_at(resources, id)->name),
                    .value = text_of(arena, table, row, id),
                    .is_exclusive = resource_table_is_exclusive(table, row, id)});
        }
    }
    return n_bytes;
}

/* The host's own thresholds; returns their size in bytes. */
static size_t list_thresholds(const struct borrowed_load *load, struct arena *arena,
                              int row, struct lease_load_host *host)
{
    const struct load_thresholds *thresholds =
        &load->parts.config->hosts[row].thresholds;
    struct load_value *texts =
        arena_alloc(arena, (size_t)thresholds->n_items + 1, sizeof(*texts));
    size_t n_bytes = 0;
    host->thresholds = texts;
    for (int i = 0; i < thresholds->n_items && i < LOAD_VALUES_MAX; i++) {
        const struct load_threshold *threshold = &thresholds->items[i];
        struct load_value *text = &texts[host->n_thresholds];
        text->name = arena_str(
            arena, resources_at(host_resources_catalogue(load->parts.host_resources),
                                threshold->id)
                       ->name);
        text->value = load_threshold_format(arena, threshold);
        if (is_plain(text->value)) {
            host->n_thresholds++;
            n_bytes += strlen(text->name) + strlen(text->value) + VALUE_BYTES;
        }
    }
    return n_bytes;
}

/* The site that borrows by the lease; NULL: none (idle slots of a pool, and its leaf
 * for this site). */
static const char *consumer_of(const struct borrowed_load *load, const char *lease,
                               struct arena *arena)
{
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    const char *name = arena_strn(arena, consumer, length);
    return strchr(name, ':') != NULL || strcmp(name, load->parts.config->name) == 0
               ? NULL
               : name;
}

static void send_hosts(const struct borrowed_load *load, const char *lease,
                       const struct lease_load_host *hosts, int n_hosts,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_LEASE_LOAD,
                      .site = consumer_of(load, lease, &effects->arena)};
    msg.lease_load =
        (struct msg_lease_load){.lease = lease, .hosts = hosts, .n_hosts = n_hosts};
    if (n_hosts > 0 && msg.site != NULL) {
        site_uplink_send(load->parts.uplink, &msg, effects);
    }
}

static void report_lease(const struct borrowed_load *load, const struct msg_state *book,
                         struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const char *lease = arena_str(arena, book->lease);
    struct lease_load_host *hosts =
        arena_alloc(arena, (size_t)book->n_hosts, sizeof(*hosts));
    size_t n_bytes = 0;
    int first = 0, count = 0;
    for (int i = 0; i < book->n_hosts; i++) {
        int row = host_table_find(load->parts.hosts, book->hosts[i].host);
        struct lease_load_host *host = &hosts[count];
        if (row < 0) {
            continue;
        }
        host->host = arena_str(arena, book->hosts[i].host);
        size_t more = list_values(load, arena, row, host) +
                      list_thresholds(load, arena, row, host);
        if (n_bytes + more > MESSAGE_BYTES || count - first == LEASE_LOAD_HOSTS_MAX) {
            send_hosts(load, lease, &hosts[first], count - first, effects);
            first = count;
            n_bytes = 0;
        }
        n_bytes += more;
        count++;
    }
    send_hosts(load, lease, &hosts[first], count - first, effects);
}

static void report_some(struct borrowed_load *load, int64_t now_ms,
                        struct effects *effects)
{
    for (int i = 0; i < LEASES_PER_TICK; i++) {
        struct msg_state book;
        if (load->next >= provider_count_leases(load->parts.provider)) {
            load->next = 0;
            load->reported_ms = now_ms;
            load->report_ms = load->is_news ? now_ms + SOON_MS : INT64_MAX;
            load->is_news = false;
            return;
        }
        const char *id = provider_lease_id(load->parts.provider, load->next++);
        if (provider_find_lease(load->parts.provider, id, &book) && !book.is_ended) {
            report_lease(load, &book, effects);
        }
    }
}

void borrowed_load_mark(struct borrowed_load *load, bool is_soon, int64_t now_ms)
{
    int64_t report_ms =
        is_soon ? now_ms + SOON_MS : load->reported_ms + BORROWED_LOAD_REPORT_MS;
    if (load->next > 0) {
        load->is_news = load->is_news || is_soon; /* after this round */
    } else if (report_ms < load->report_ms) {
        load->report_ms = report_ms;
    }
}

void borrowed_load_answer(struct borrowed_load *load, const struct msg *msg,
                          int64_t now_ms, struct effects *effects)
{
    const char *lease = msg->lease_load_ask.lease;
    struct msg_state book;
    if (now_ms - load->answers_ms >= 1000) {
        load->answers_ms = now_ms;
        load->n_answers = 0;
    }
    const char *consumer = consumer_of(load, lease, &effects->arena);
    if (consumer != NULL && strcmp(consumer, msg->site) == 0 &&
        load->n_answers++ < ANSWERS_PER_SECOND &&
        provider_find_lease(load->parts.provider, lease, &book)) {
        report_lease(load, &book, effects);
    }
}

/* ---------------------------------------------------------------- consumer */

static bool has_host(const struct msg_contract *contract, const char *host)
{
    for (int i = 0; i < contract->n_hosts; i++) {
        if (strcmp(contract->hosts[i].host, host) == 0) {
            return true;
        }
    }
    return false;
}

/* The contract of that lease, if it is with that provider. */
static bool find_contract(const struct borrowed_load *load, const char *lease,
                          const char *provider, struct msg_contract *contract)
{
    size_t length = strlen(provider);
    return strncmp(lease, provider, length) == 0 && lease[length] == '/' &&
           consumer_find_contract(load->parts.consumer, lease, contract);
}

bool borrowed_load_receive(struct borrowed_load *load, const struct msg *msg,
                           bool *is_first, struct effects *effects)
{
    struct borrowed_resources *borrowed =
        host_resources_borrowed(load->parts.host_resources);
    const struct msg_lease_load *report = &msg->lease_load;
    struct msg_contract contract;
    bool is_accepted = false;
    if (!find_contract(load, report->lease, msg->site, &contract)) {
        return false;
    }
    for (int i = 0; i < report->n_hosts; i++) {
        const struct lease_load_host *host = &report->hosts[i];
        if (has_host(&contract, host->host)) {
            const char *name =
                arena_printf(&effects->arena, "%s@%s", host->host, msg->site);
            *is_first = *is_first || !borrowed_resources_is_reported(borrowed, name);
            borrowed_resources_report(borrowed, name, host->values, host->n_values);
            borrowed_resources_set_thresholds(borrowed, name, host->thresholds,
                                              host->n_thresholds);
            is_accepted = true;
        }
    }
    return is_accepted;
}

static void ask(const struct borrowed_load *load, const struct consumer_host *host,
                struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg msg = {.kind = MSG_LEASE_LOAD_ASK, .site = arena_str(arena, host->site)};
    msg.lease_load_ask.lease = arena_str(arena, host->lease);
    site_uplink_send(load->parts.uplink, &msg, effects);
}

/* Asks about leases with an unknown host that is open or has jobs, which may stay
 * suspended until its load is known. Forgets hosts that no contract has. True if it
 * asked. */
static bool ask_unknown(struct borrowed_load *load, struct effects *effects)
{
    int n_rows = resource_table_rows(host_resources_table(load->parts.host_resources));
    bool *rows = arena_alloc(&effects->arena, (size_t)n_rows + 1, sizeof(*rows));
    struct borrowed_resources *borrowed =
        host_resources_borrowed(load->parts.host_resources);
    const char *asked = "";
    int n_asked = 0;
    for (int i = 0; i < consumer_count_hosts(load->parts.consumer); i++) {
        struct consumer_host host;
        consumer_host_at(load->parts.consumer, i, &host);
        int row = borrowed_resources_find(borrowed, host.name);
        if (row >= 0) {
            rows[row] = true;
        }
        bool is_wanted = host.is_open || host.n_used > 0;
        if (is_wanted && n_asked < LEASES_PER_TICK && strcmp(asked, host.lease) != 0 &&
            !borrowed_resources_is_reported(borrowed, host.name)) {
            asked = host.lease;
            n_asked++;
            ask(load, &host, effects);
        }
    }
    borrowed_resources_prune(borrowed, rows);
    return n_asked > 0;
}

void borrowed_load_check_soon(struct borrowed_load *load, int64_t now_ms)
{
    if (load->ask_ms > now_ms + CHECK_MS) {
        load->ask_ms = now_ms + CHECK_MS;
    }
}

/* ---------------------------------------------------------------- time */

static bool has_leases(const struct borrowed_load *load)
{
    return provider_count_leases(load->parts.provider) > 0;
}

void borrowed_load_tick(struct borrowed_load *load, int64_t now_ms,
                        struct effects *effects)
{
    if (!site_uplink_is_up(load->parts.uplink)) {
        return;
    }
    if (has_leases(load) && now_ms >= load->report_ms) {
        report_some(load, now_ms, effects);
    }
    if (now_ms >= load->ask_ms) {
        load->ask_ms =
            ask_unknown(load, effects) ? now_ms + BORROWED_LOAD_ASK_MS : INT64_MAX;
    }
}

int64_t borrowed_load_wake_ms(const struct borrowed_load *load)
{
    if (!site_uplink_is_up(load->parts.uplink)) {
        return INT64_MAX;
    }
    return has_leases(load) && load->report_ms < load->ask_ms ? load->report_ms
                                                              : load->ask_ms;
}
