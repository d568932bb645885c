/* SPDX-License-Identifier: Apache-2.0 */
/* limit_view.c: `limits`: each limit, to what it applies, and how much of it is in use.
 *
 * A limit that applies to each of several users, queues, hosts or projects has a row
 * for each of them that uses some of it; an unused limit has one row, as it is
 * configured. The slots of the site's own hosts (MXJ), which jobs of consumers use too,
 * follow. */
#include <limits.h>
#include <string.h>

#include "model/page.h"
#include "sched/limit/limit.h"
#include "site/view/view_rows.h"

static const char *const side_names[LIMIT_SIDES] = {
    [LIMIT_USERS] = "users",
    [LIMIT_QUEUES] = "queues",
    [LIMIT_HOSTS] = "hosts",
    [LIMIT_PROJECTS] = "projects",
};

struct listing {
    struct site_view *view;
    struct page *page;
    const struct msg_query *query;
    const struct place_host *hosts; /* own and borrowed ones */
    int n_hosts;
    struct rusage_pass *left; /* what jobs reserve; NULL: as configured */
    uint64_t number;          /* of the row */
};

/* ---------------------------------------------------------------- what it applies to
 */

/* Whether one of the words is this name, also with "@" behind it (each member). */
static bool has_word(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
        bool begins = at == text || at[-1] == ' ';
        const char *end = at + length + (at[length] == '@');
        if (begins && (*end == '\0' || *end == ' ')) {
            return true;
        }
    }
    return false;
}

static bool is_in_group(struct site_view *view, int side, const char *group,
                        const char *name)
{
    const struct groups *groups = &view->config->groups;
    const struct name_group *found =
        side == LIMIT_USERS   ? groups_find_users(groups, group)
        : side == LIMIT_HOSTS ? groups_find_hosts(groups, group)
                              : NULL;
    return found != NULL && groups_has(&found->members, name);
}

/* True: the limit applies to all that the query names (a user, queue, host, project, or
 * a group of them). `use` NULL: the limit is unused. */
static bool is_asked_for(const struct listing *listing, const struct limit *limit,
                         const struct limit_usage *use)
{
    const struct msg_query *query = listing->query;
    const char *const asked[LIMIT_SIDES] = {
        [LIMIT_USERS] = query->user,
        [LIMIT_QUEUES] = query->queue,
        [LIMIT_HOSTS] = query->host,
        [LIMIT_PROJECTS] = query->project,
    };
    if (query->name[0] != '\0' && strcmp(query->name, limit->label) != 0) {
        return false;
    }
    for (int i = 0; i < LIMIT_SIDES; i++) {
        const struct limit_side *side = &limit->sides[i];
        const char *each = use != NULL ? use->each[i] : NULL;
        if (asked[i][0] == '\0' || side->mode == LIMIT_ANY) {
            continue;
        }
        if (each != NULL
                ? strcmp(each, asked[i]) != 0 &&
                      !is_in_group(listing->view, i, asked[i], each)
                : !limit_side_has(side, asked[i]) && !has_word(side->text, asked[i])) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- rows */

/* As a pass counts them (sched/place/place.h): the slots if nothing else is known. 0:
 * the host does not exist now. */
static int processors_of(const struct listing *listing, const char *host)
{
    int most = 0;
    for (int i = 0; host != NULL && i < listing->n_hosts; i++) {
        const struct place_host *at = &listing->hosts[i];
        int count = at->n_processors > 0 ? at->n_processors : at->max;
        if (strcmp(at->name, host) == 0 && count > most) {
            most = count;
        }
    }
    return most;
}

static void add_amount(struct arena *arena, struct value *amount, int used, int limit)
{
    value_add_known(arena, amount, "used", limit >= 0 && used >= 0, used);
    value_add_known(arena, amount, "limit", limit >= 0, limit);
}

static void add_sides(struct arena *arena, struct value *row, const struct limit *limit,
                      const struct limit_usage *use)
{
    struct value *each = value_array(arena);
    for (int i = 0; i < LIMIT_SIDES; i++) {
        const struct limit_side *side = &limit->sides[i];
        bool is_one = use != NULL && use->each[i] != NULL;
        value_add_text(arena, row, side_names[i], is_one ? use->each[i] : side->text);
        if (side->mode == LIMIT_EACH) {
            value_add_text(arena, each, NULL, side_names[i]);
        }
    }
    value_add(arena, row, "each", each);
}

/* "mem" and what of it is reserved and may be. Adds whether all of it is. */
static void add_resources(const struct listing *listing, struct value *row,
                          const struct limit *limit, const struct limit_usage *use,
                          bool *is_full)
{
    struct arena *arena = listing->page->arena;
    struct value *resources = value_add(arena, row, "resources", value_object(arena));
    for (int i = 0; i < limit->n_amounts; i++) {
        const struct limit_amount *amount = &limit->amounts[i];
        struct limit_share share = {limit, amount, use != NULL ? use->key : ""};
        int64_t most = amount->is_percent ? -1 : amount->milli, used = 0;
        if (use != NULL && listing->left != NULL) {
            used =
                limit_supply_used(listing->left, &share, use->each[LIMIT_HOSTS], &most);
            *is_full = *is_full || (most >= 0 && used >= most);
        }
        struct value *item =
            value_add(arena, resources, amount->resource, value_object(arena));
        if (listing->left != NULL) {
            value_add_real(arena, item, "used", (double)used / 1000);
        } else {
            value_add_null(arena, item, "used");
        }
        if (most >= 0) {
            value_add_real(arena, item, "limit", (double)most / 1000);
        } else {
            value_add_null(arena, item, "limit");
        }
        value_add_known(arena, item, "percent", amount->is_percent, amount->percent);
    }
}

static struct value *limit_row(const struct listing *listing, const struct limit *limit,
                               const struct limit_usage *use)
{
    struct arena *arena = listing->page->arena;
    struct value *row = value_object(arena);
    const char *host = use != NULL ? use->each[LIMIT_HOSTS] : NULL;
    bool is_configured = listing->query->configured;
    int n_slots = use != NULL ? use->n_slots : 0;
    int n_jobs = use != NULL ? use->n_jobs : 0;
    int most = limit->per_processor_milli >= 0 && host == NULL
                   ? limit->slots
                   : limit_slots(limit, processors_of(listing, host));
    most = most == INT_MAX ? -1 : most;
    value_add_text(arena, row, "name", limit->label);
    value_add_text(arena, row, "section", limit->section);
    value_add_text(arena, row, "limit", limit->name);
    add_sides(arena, row, limit, use);
    struct value *slots = value_add(arena, row, "slots", value_object(arena));
    add_amount(arena, slots, is_configured ? -1 : n_slots, most);
    if (limit->per_processor_milli >= 0) {
        value_add_real(arena, slots, "per_processor",
                       (double)limit->per_processor_milli / 1000);
    } else {
        value_add_null(arena, slots, "per_processor");
    }
    struct value *jobs = value_add(arena, row, "jobs", value_object(arena));
    add_amount(arena, jobs, is_configured ? -1 : n_jobs, limit->jobs);
    bool is_full = false;
    add_resources(listing, row, limit, use, &is_full);
    value_add_bool(
        arena, row, "is_full",
        is_full || (!is_configured && ((most >= 0 && n_slots >= most) ||
                                       (limit->jobs >= 0 && n_jobs >= limit->jobs))));
    return row;
}

/* True: it is asked for, whether it is on this page or not. */
static bool add_limit(struct listing *listing, const struct limit *limit,
                      const struct limit_usage *use)
{
    bool is_asked = is_asked_for(listing, limit, use);
    listing->number++;
    if (is_asked && page_wants(listing->page, listing->number)) {
        page_add_number(listing->page, listing->number, limit_row(listing, limit, use));
    }
    return is_asked;
}

/* Whether unused limits are shown too. */
static bool wants_unused(const struct msg_query *query)
{
    return query->with_ended || query->configured || query->name[0] != '\0';
}

static void add_limits(struct listing *listing)
{
    const struct site_config *config = listing->view->config;
    const struct limit_usage *uses;
    int n_uses = 0, at = 0;
    if (!listing->query->configured) {
        n_uses = limit_usage_list(listing->view->limits, listing->page->arena, &uses);
    }
    for (int i = 0; i < config->n_limits && !listing->page->is_full; i++) {
        bool is_used = false;
        for (; at < n_uses && uses[at].limit == i; at++) {
            is_used |= add_limit(listing, &config->limits[i], &uses[at]);
        }
        if (!is_used && wants_unused(listing->query)) {
            add_limit(listing, &config->limits[i], NULL);
        }
    }
}

/* ---------------------------------------------------------------- hosts */

static void add_host(struct listing *listing, int index)
{
    struct site_view *view = listing->view;
    struct arena *arena = listing->page->arena;
    const char *host = host_table_name(view->hosts, index);
    int max = host_table_max(view->hosts, index);
    const struct run_table_use *used = run_table_use(runs_table(view->runs), index);
    struct limit limit = {
        .name = arena_printf(arena, "MXJ of host %s (%d)", host, max),
        .label = "MXJ",
        .section = "Host",
        .slots = max,
        .jobs = -1,
        .per_processor_milli = -1,
        .sides = {[LIMIT_HOSTS] = {.mode = LIMIT_EACH, .text = host}},
    };
    struct limit_usage use = {.each = {[LIMIT_HOSTS] = host},
                              .n_slots = used->own + used->consumers};
    if (use.n_slots > 0 || wants_unused(listing->query)) {
        add_limit(listing, &limit, &use);
    }
}

void limit_view_list(struct site_view *view, struct page *page,
                     const struct msg_query *query)
{
    struct listing listing = {.view = view, .page = page, .query = query};
    listing.hosts =
        capacity_hosts(view->capacity, page->arena, view->local_ms, &listing.n_hosts);
    listing.left = query->configured ? NULL : rusage_view_left(view, page->arena);
    add_limits(&listing);
    for (int i = 0; i < host_table_count(view->hosts) && !page->is_full; i++) {
        add_host(&listing, i);
    }
}
