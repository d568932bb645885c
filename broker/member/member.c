/* SPDX-License-Identifier: Apache-2.0 */
/* member.c: see member.h. */
#include "broker/member/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "broker/broker.h"

/* Policies of one provider for one consumer; sites have a handful. */
enum { MAX_LEASES_DEFAULT = 100 };

/* A site that loses its broker again and again opens one in some seconds. */
enum { SESSIONS_PER_S = 1, SESSIONS_MOST = 10 };

static struct member *member_new(const char *name)
{
    struct member *member = mem_alloc(1, sizeof(*member));
    streams_init(&member->streams, STREAMS_SITE_PER_S);
    token_bucket_init(&member->sessions, SESSIONS_PER_S, SESSIONS_MOST);
    snprintf(member->name, sizeof(member->name), "%s", name);
    member->timer.key = member->name;
    return member;
}

static int compare_name(const void *name, const void *member)
{
    return strcmp(name, ((const struct member *)member)->name);
}

static void allow_roles(struct members *members, const struct broker_config *config)
{
    members->lost_after_ms = config->lost_after_ms;
    for (int i = 0; i < config->n_members; i++) {
        struct member *member =
            members_find_or_retire(members, config->members[i].name);
        member->roles_allowed = config->members[i].roles;
        member->max_leases = config->members[i].max_leases;
    }
}

void members_init(struct members *members, const struct broker_config *config)
{
    memset(members, 0, sizeof(*members));
    timer_heap_init(&members->timers);
    allow_roles(members, config);
}

void members_release(struct members *members)
{
    for (int i = 0; i < members->count; i++) {
        free(members->items[i]->queues);
        free(members->items[i]->uses);
        free(members->items[i]);
    }
    free(members->items);
    timer_heap_release(&members->timers);
}

void members_load(struct members *members, const struct row_site *row)
{
    struct member *member = members_find(members, row->name);
    if (member != NULL) {
        member->is_known = true;
        member->is_lost = row->is_lost;
        member->is_drained = row->is_drained;
        member->since_ms = row->since_ms;
        member->silent_ms = row->silent_ms;
        msg_raise_mark(&member->mark, &row->mark);
    }
}

/* Its session counts no more: what it says next is answered with "stale". */
static void close_session(struct members *members, struct member *member,
                          int64_t now_ms)
{
    timer_heap_set(&members->timers, &member->timer, INT64_MAX);
    member->since_ms = member->is_here ? now_ms : member->since_ms;
    member->is_here = false;
    member->is_refused = false;
    member->session = 0;
}

void members_reload(struct members *members, const struct broker_config *config,
                    int64_t now_ms)
{
    for (int i = 0; i < members->count; i++) {
        members->items[i]->roles_before = members->items[i]->roles_allowed;
        members->items[i]->roles_allowed = 0;
    }
    allow_roles(members, config);
    for (int i = 0; i < members->count; i++) {
        struct member *member = members->items[i];
        bool has_changed = member->roles_allowed != member->roles_before;
        if (member->session != 0 && (has_changed || member->is_refused)) {
            close_session(members, member, now_ms);
        }
    }
}

void member_store(const struct member *member, struct effects *effects)
{
    struct row row = {.kind = ROW_SITE};
    row.site = (struct row_site){.name = member->name,
                                 .is_lost = member->is_lost,
                                 .is_drained = member->is_drained,
                                 .since_ms = member->since_ms,
                                 .silent_ms = member->silent_ms,
                                 .mark = member->mark};
    effects_store(effects, &row);
}

void member_record(const char *site, enum history_event what, const char *reason,
                   int64_t now_ms, struct effects *effects)
{
    struct row row = {.kind = ROW_HISTORY};
    row.history = (struct row_history){
        .at_ms = now_ms, .lease = "", .site = site, .event = what, .reason = reason};
    effects_store(effects, &row);
}

/* Thousands of sites must not cause a commit each at each heartbeat. */
enum { MARK_STORE_MS = 10000 };

void member_note_mark(struct member *member, const struct journal_mark *mark,
                      int64_t now_ms, struct effects *effects)
{
    member->is_mark_unstored |= msg_raise_mark(&member->mark, mark);
    if (member->is_mark_unstored && member->is_known &&
        now_ms - member->mark_stored_ms >= MARK_STORE_MS) {
        member->is_mark_unstored = false;
        member->mark_stored_ms = now_ms;
        member_store(member, effects);
    }
}

struct member *members_find(const struct members *members, const char *name)
{
    return sorted_find(members->items, members->count, name, compare_name);
}

int members_max_leases(const struct member *provider, const struct member *consumer)
{
    int a = provider->max_leases, b = consumer->max_leases;
    if (a == 0 || b == 0) {
        return a + b > 0 ? a + b : MAX_LEASES_DEFAULT;
    }
    return a < b ? a : b;
}

struct member *members_find_or_retire(struct members *members, const char *name)
{
    struct member *member = members_find(members, name);
    if (member != NULL) {
        return member;
    }
    member = member_new(name);
    members->items = sorted_add(members->items, &members->count, &members->capacity,
                                name, compare_name, member);
    return member;
}

static void listen_again(struct members *members, struct member *member)
{
    timer_heap_set(&members->timers, &member->timer,
                   member->last_message_ms + members->lost_after_ms);
}

/* The clock may have been set back since. */
static int64_t not_after(int64_t at_ms, int64_t now_ms)
{
    return at_ms < now_ms ? at_ms : now_ms;
}

static void begin_silence(struct members *members, struct member *member,
                          int64_t now_ms, struct effects *effects)
{
    if (member->silent_ms == 0) {
        member->silent_ms = now_ms;
        member_store(member, effects);
    }
    member->since_ms = not_after(member->silent_ms, now_ms);
    listen_again(members, member);
}

void members_start(struct members *members, int64_t now_ms, struct effects *effects)
{
    for (int i = 0; i < members->count; i++) {
        struct member *member = members->items[i];
        member->last_message_ms = now_ms;
        member->patience_ms = now_ms + members->lost_after_ms;
        if (!member->is_known) {
            member->since_ms = now_ms;
        } else if (member->is_lost) {
            member->since_ms = not_after(member->since_ms, now_ms);
        } else {
            begin_silence(members, member, now_ms, effects);
        }
    }
}

int64_t member_term_ms(const struct member *member, int64_t term_ms)
{
    int64_t over_ms = member->since_ms + term_ms;
    return over_ms > member->patience_ms ? over_ms : member->patience_ms;
}

static void come_back(struct members *members, struct member *member, int64_t now_ms)
{
    member->is_here = true;
    member->since_ms = now_ms;
    listen_again(members, member);
}

static bool may_begin(const struct member *member, uint64_t session)
{
    return member->session == 0 || !member->is_here || session > member->session;
}

enum hello_verdict members_hello(struct members *members, struct member *member,
                                 uint64_t session, uint64_t link,
                                 const struct msg_hello *hello, int64_t now_ms)
{
    bool is_same = member->is_here && session == member->session;
    if (!is_same && !may_begin(member, session)) {
        return HELLO_REFUSED;
    }
    if (!is_same && token_bucket_refill(&member->sessions, now_ms) <= 0) {
        return HELLO_TOO_SOON;
    }
    member->last_message_ms = now_ms;
    member->link = link;
    if (is_same) {
        return HELLO_REPEATED;
    }
    token_bucket_take(&member->sessions, 1);
    member->session = session;
    member->roles = hello->roles & member->roles_allowed;
    member->reclaim_delay_ms = hello->reclaim_delay_ms;
    member->revision = 0;
    member->is_refused = false;
    member->has_usage = false;
    member->n_usages++; /* what the last one asked for is forgotten */
    memset(&member->usage, 0, sizeof(member->usage));
    come_back(members, member, now_ms);
    return HELLO_ACCEPTED;
}

bool members_note_message(struct members *members, struct member *member,
                          int64_t now_ms)
{
    member->last_message_ms = now_ms;
    if (member->is_here) {
        return false; /* its timer is moved when it expires, not at each message */
    }
    come_back(members, member, now_ms);
    return true;
}

struct member *members_lose(struct members *members, int64_t now_ms)
{
    struct timer *timer;
    while ((timer = timer_heap_find_due(&members->timers, now_ms)) != NULL) {
        struct member *member = (struct member *)timer;
        if (member->last_message_ms + members->lost_after_ms <= now_ms) {
            timer_heap_set(&members->timers, timer, INT64_MAX);
            member->since_ms = member->is_here ? now_ms : member->since_ms;
            member->is_here = false;
            return member;
        }
        listen_again(members, member);
    }
    return NULL;
}

int64_t members_wake_ms(const struct members *members)
{
    return timer_heap_wake_ms(&members->timers);
}

bool member_is_here(const struct member *member, enum role role)
{
    return member->is_here && (member->roles & (int)role) != 0;
}

/* ---------------------------------------------------------------- demand */

static int compare_demands(const void *left, const void *right)
{
    const struct queue_demand *a = left, *b = right;
    int order = strcmp(a->queue, b->queue);
    order =
        order != 0 ? order : (a->job_size > b->job_size) - (a->job_size < b->job_size);
    return order != 0 ? order
                      : (a->n_waiting > b->n_waiting) - (a->n_waiting < b->n_waiting);
}

static int compare_uses(const void *left, const void *right)
{
    const struct priority_use *a = left, *b = right;
    int order = strcmp(a->lease, b->lease);
    order =
        order != 0 ? order : (a->priority > b->priority) - (a->priority < b->priority);
    return order != 0 ? order : (a->n_slots > b->n_slots) - (a->n_slots < b->n_slots);
}

static void set_uses(struct member *member, const struct msg_usage *usage)
{
    size_t size = (size_t)usage->n_uses * sizeof(*usage->uses);
    for (int i = 0; i < usage->n_uses; i++) {
        size += strlen(usage->uses[i].lease) + 1;
    }
    free(member->uses);
    member->uses = mem_alloc(size, 1);
    member->n_uses = usage->n_uses;
    char *text = (char *)&member->uses[usage->n_uses];
    for (int i = 0; i < usage->n_uses; i++) {
        size_t length = strlen(usage->uses[i].lease) + 1;
        member->uses[i] = usage->uses[i];
        member->uses[i].lease = memcpy(text, usage->uses[i].lease, length);
        text += length;
    }
    member->are_uses_sorted = false;
}

void member_set_demand(struct member *member, const struct msg_usage *usage)
{
    size_t size = (size_t)usage->n_queues * sizeof(*usage->queues);
    for (int i = 0; i < usage->n_queues; i++) {
        size += strlen(usage->queues[i].queue) + 1;
    }
    free(member->queues);
    member->queues = mem_alloc(size, 1);
    member->n_queues = usage->n_queues;
    char *text = (char *)&member->queues[usage->n_queues];
    for (int i = 0; i < usage->n_queues; i++) {
        size_t length = strlen(usage->queues[i].queue) + 1;
        member->queues[i] = usage->queues[i];
        member->queues[i].queue = memcpy(text, usage->queues[i].queue, length);
        text += length;
    }
    /* Sorted, as every leaf of a plan is looked up in every cycle. */
    qsort(member->queues, (size_t)member->n_queues, sizeof(*member->queues),
          compare_demands);
    set_uses(member, usage);
}

const struct priority_use *member_find_uses(struct member *member, const char *lease,
                                            int *n_uses)
{
    if (!member->are_uses_sorted && member->n_uses > 0) {
        qsort(member->uses, (size_t)member->n_uses, sizeof(*member->uses),
              compare_uses);
        member->are_uses_sorted = true;
    }
    int low = 0, high = member->n_uses;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(member->uses[middle].lease, lease) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; high < member->n_uses && strcmp(member->uses[high].lease, lease) == 0;
         high++) {
    }
    *n_uses = high - low;
    return &member->uses[low];
}

/* The first of the queue's demands; `*n_demands` is how many it has. */
static const struct queue_demand *find_queue(const struct member *member,
                                             const char *queue, int *n_demands)
{
    int low = 0, high = member->n_queues;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(member->queues[middle].queue, queue) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct queue_demand *found = &member->queues[low];
    for (; high < member->n_queues && strcmp(member->queues[high].queue, queue) == 0;
         high++) {
    }
    *n_demands = high - low;
    return found;
}

static bool is_listed_before(const char *const *queues, int place)
{
    for (int i = 0; i < place; i++) {
        if (strcmp(queues[i], queues[place]) == 0) {
            return true;
        }
    }
    return false;
}

const struct queue_demand *member_demands(const struct member *member,
                                          const char *const *queues, int n_queues,
                                          int *at, int *n_demands)
{
    const struct queue_demand *found = member->queues;
    *n_demands = 0;
    if (n_queues == 0 && *at == 0) {
        *n_demands = member->n_queues;
    }
    while (*n_demands == 0 && *at < n_queues) {
        if (!is_listed_before(queues, *at)) {
            found = find_queue(member, queues[*at], n_demands);
        }
        ++*at;
    }
    *at += n_queues == 0;
    return *n_demands > 0 ? found : NULL;
}

int64_t member_count_waiting(const struct member *member, const char *const *queues,
                             int n_queues)
{
    const struct queue_demand *demands;
    int at = 0, n_demands;
    int64_t n_waiting = 0;
    while ((demands = member_demands(member, queues, n_queues, &at, &n_demands)) !=
           NULL) {
        for (int i = 0; i < n_demands; i++) {
            n_waiting += demands[i].n_waiting;
        }
    }
    return n_waiting;
}
