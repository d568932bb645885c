/* SPDX-License-Identifier: Apache-2.0 */
/* member.c: see member.h. */
#include "broker/member/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct member *member_new(const char *name, int roles_allowed)
{
    struct member *member = mem_alloc(1, sizeof(*member));
    streams_init(&member->streams, STREAMS_SITE_PER_S);
    snprintf(member->name, sizeof(member->name), "%s", name);
    member->alarm.key = member->name;
    member->roles_allowed = roles_allowed;
    return member;
}

static int compare_members(const void *a, const void *b)
{
    return strcmp((*(struct member *const *)a)->name,
                  (*(struct member *const *)b)->name);
}

static int compare_name(const void *name, const void *item)
{
    return strcmp(name, (*(struct member *const *)item)->name);
}

void members_init(struct members *sessions, const struct broker_config *config)
{
    memset(sessions, 0, sizeof(*sessions));
    timer_heap_init(&sessions->alarms);
    sessions->lost_after_ms = config->lost_after_ms;
    sessions->count = config->n_members;
    sessions->items = mem_alloc((size_t)config->n_members, sizeof(*sessions->items));
    for (int i = 0; i < config->n_members; i++) {
        sessions->items[i] =
            member_new(config->members[i].name, config->members[i].roles);
    }
    qsort(sessions->items, (size_t)sessions->count, sizeof(*sessions->items),
          compare_members);
}

void members_release(struct members *sessions)
{
    for (int i = 0; i < sessions->count; i++) {
        free(sessions->items[i]);
    }
    free(sessions->items);
    timer_heap_release(&sessions->alarms);
}

void members_load(struct members *sessions, const struct row_site *row)
{
    struct member *member = members_find(sessions, row->name);
    if (member != NULL) {
        member->is_known = true;
        member->is_lost = row->is_lost;
        member->is_drained = row->is_drained;
        member->since_ms = row->since_ms;
        member->silent_ms = row->silent_ms;
    }
}

/* Its session counts no more: what it says next is answered with "stale". */
static void close_session(struct members *sessions, struct member *member,
                          int64_t now_ms)
{
    timer_heap_set(&sessions->alarms, &member->alarm, INT64_MAX);
    member->since_ms = member->is_here ? now_ms : member->since_ms;
    member->is_here = false;
    member->is_refused = false;
    member->session = 0;
}

void members_reload(struct members *sessions, const struct broker_config *config,
                    int64_t now_ms)
{
    sessions->lost_after_ms = config->lost_after_ms;
    for (int i = 0; i < sessions->count; i++) {
        sessions->items[i]->roles_before = sessions->items[i]->roles_allowed;
        sessions->items[i]->roles_allowed = 0;
    }
    for (int i = 0; i < config->n_members; i++) {
        struct member *member =
            members_find_or_retire(sessions, config->members[i].name);
        member->roles_allowed = config->members[i].roles;
    }
    for (int i = 0; i < sessions->count; i++) {
        struct member *member = sessions->items[i];
        bool has_changed = member->roles_allowed != member->roles_before;
        if (member->session != 0 && (has_changed || member->is_refused)) {
            close_session(sessions, member, now_ms);
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
                                 .silent_ms = member->silent_ms};
    effects_store(effects, &row);
}

struct member *members_find(const struct members *sessions, const char *name)
{
    struct member **found = bsearch(name, sessions->items, (size_t)sessions->count,
                                    sizeof(*sessions->items), compare_name);
    return found != NULL ? *found : NULL;
}

struct member *members_find_or_retire(struct members *sessions, const char *name)
{
    struct member *member = members_find(sessions, name);
    if (member != NULL) {
        return member;
    }
    int place = sessions->count++;
    sessions->items =
        mem_grow(sessions->items, (size_t)sessions->count, sizeof(*sessions->items));
    while (place > 0 && strcmp(sessions->items[place - 1]->name, name) > 0) {
        sessions->items[place] = sessions->items[place - 1];
        place--;
    }
    sessions->items[place] = member_new(name, 0);
    return sessions->items[place];
}

static void listen_again(struct members *sessions, struct member *member)
{
    timer_heap_set(&sessions->alarms, &member->alarm,
                   member->heard_ms + sessions->lost_after_ms);
}

/* The clock may have been set back since. */
static int64_t not_after(int64_t at_ms, int64_t now_ms)
{
    return at_ms < now_ms ? at_ms : now_ms;
}

static void begin_silence(struct members *sessions, struct member *member,
                          int64_t now_ms, struct effects *effects)
{
    if (member->silent_ms == 0) {
        member->silent_ms = now_ms;
        member_store(member, effects);
    }
    member->since_ms = not_after(member->silent_ms, now_ms);
    listen_again(sessions, member);
}

void members_start(struct members *sessions, int64_t now_ms, struct effects *effects)
{
    for (int i = 0; i < sessions->count; i++) {
        struct member *member = sessions->items[i];
        member->heard_ms = now_ms;
        member->patience_ms = now_ms + sessions->lost_after_ms;
        if (!member->is_known) {
            member->since_ms = now_ms;
        } else if (member->is_lost) {
            member->since_ms = not_after(member->since_ms, now_ms);
        } else {
            begin_silence(sessions, member, now_ms, effects);
        }
    }
}

int64_t member_term_ms(const struct member *member, int64_t term_ms)
{
    int64_t over_ms = member->since_ms + term_ms;
    return over_ms > member->patience_ms ? over_ms : member->patience_ms;
}

static void come_back(struct members *sessions, struct member *member, int64_t now_ms)
{
    member->is_here = true;
    member->since_ms = now_ms;
    listen_again(sessions, member);
}

static bool may_begin(const struct member *member, uint64_t session)
{
    return member->session == 0 || !member->is_here || session > member->session;
}

enum hello_verdict members_hello(struct members *sessions, struct member *member,
                                 uint64_t session, uint64_t link,
                                 const struct msg_hello *hello, int64_t now_ms)
{
    bool is_same = member->is_here && session == member->session;
    if (!is_same && !may_begin(member, session)) {
        return HELLO_REFUSED;
    }
    member->heard_ms = now_ms;
    member->link = link;
    if (is_same) {
        return HELLO_REPEATED;
    }
    member->session = session;
    member->roles = hello->roles & member->roles_allowed;
    member->reclaim_delay_ms = hello->reclaim_delay_ms;
    member->revision = 0;
    member->is_refused = false;
    member->has_usage = false;
    member->n_usages++; /* what the last one asked for is forgotten */
    memset(&member->usage, 0, sizeof(member->usage));
    come_back(sessions, member, now_ms);
    return HELLO_ACCEPTED;
}

bool members_hear(struct members *sessions, struct member *member, int64_t now_ms)
{
    member->heard_ms = now_ms;
    if (member->is_here) {
        return false; /* its alarm is moved when it rings, not at each message */
    }
    come_back(sessions, member, now_ms);
    return true;
}

struct member *members_lose(struct members *sessions, int64_t now_ms)
{
    struct timer *alarm;
    while ((alarm = timer_heap_find_due(&sessions->alarms, now_ms)) != NULL) {
        struct member *member = (struct member *)alarm;
        if (member->heard_ms + sessions->lost_after_ms <= now_ms) {
            timer_heap_set(&sessions->alarms, alarm, INT64_MAX);
            member->since_ms = member->is_here ? now_ms : member->since_ms;
            member->is_here = false;
            return member;
        }
        listen_again(sessions, member);
    }
    return NULL;
}

int64_t members_wake_ms(const struct members *sessions)
{
    return timer_heap_wake_ms(&sessions->alarms);
}

bool member_is_here(const struct member *member, enum role role)
{
    return member->is_here && (member->roles & (int)role) != 0;
}
