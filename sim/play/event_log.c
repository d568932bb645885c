/* SPDX-License-Identifier: Apache-2.0 */
/* event_log.c: contracts and slots; jobs are event_log_job.c's. */
#include "sim/play/event_log_parts.h"

#include <stdio.h>
#include <string.h>

struct event_log *event_log_new(const struct event_log_options *setting,
                                struct summary *summary)
{
    struct event_log *story = mem_alloc(1, sizeof *story);

    story->setting = *setting;
    story->summary = summary;
    story->levels = mem_alloc((size_t)setting->n_sites + 1, sizeof story->levels[0]);
    arena_init(&story->scratch);
    for (int i = 0; i < setting->n_sites; i++) {
        event_log_sized(story, i, setting->n_slots[i], setting->epoch_ms);
    }
    return story;
}

void event_log_free(struct event_log *story)
{
    struct event_log_lease *book, *next;

    if (!story) {
        return;
    }
    HASH_ITER (hh, story->books, book, next) {
        HASH_DEL(story->books, book);
        free(book);
    }
    event_log_job_release(story);
    arena_release(&story->scratch);
    free(story->levels);
    free(story);
}

/* ---- events
 * ------------------------------------------------------------------------- */

struct value *event_log_begin(struct event_log *story, const char *event, int site,
                              int64_t now_ms)
{
    struct arena *arena = &story->scratch;

    if (!story->setting.on_event) {
        return NULL;
    }
    arena_clear(arena);
    struct value *object = value_object(arena);
    value_add_duration(arena, object, "t", now_ms - story->setting.epoch_ms);
    value_add_text(arena, object, "event", event);
    if (site >= 0) {
        value_add_text(arena, object, "site", story->setting.sites[site]);
    }
    return object;
}

void event_log_emit(struct event_log *story, const struct value *event)
{
    story->setting.on_event(story->setting.arg, event);
}

static int find_site(const struct event_log *story, const char *name, size_t length)
{
    for (int i = 0; i < story->setting.n_sites; i++) {
        if (strlen(story->setting.sites[i]) == length &&
            !strncmp(story->setting.sites[i], name, length)) {
            return i;
        }
    }
    return -1;
}

static void add_side(struct arena *arena, struct value *event, const char *key,
                     const char *site, int available, int used)
{
    struct value *side = value_add(arena, event, key, value_object(arena));

    value_add_text(arena, side, "site", site);
    value_add_int(arena, side, "available", available);
    value_add_int(arena, side, "used", used);
}

static void add_node(struct event_log *story, struct value *event,
                     const struct row_history *row)
{
    struct arena *arena = &story->scratch;

    value_add_text(arena, event, "pool", row->pool);
    value_add_text(arena, event, "node", row->node);
    if (row->event == HISTORY_QUOTA) {
        value_add_int(arena, event, "quota", row->quota);
        value_add_int(arena, event, "demand", row->demand);
    } else {
        value_add_int(arena, event, "slots", row->slots);
        value_add_duration(arena, event, "deadline",
                           row->deadline_ms - story->setting.epoch_ms);
    }
}

/* As `sublet events` shows it. The sites of a lease are the first and the last part of
 * its id. */
static void tell_history(struct event_log *story, const struct row_history *row,
                         int64_t now_ms)
{
    struct arena *arena = &story->scratch;
    bool is_of_lease = row->lease && row->lease[0];
    struct value *event = event_log_begin(
        story, row_event_name(row_history_name(row->event)), -1, now_ms);

    if (!event) {
        return;
    }
    if (is_of_lease) {
        size_t length;
        const char *consumer = msg_lease_consumer(row->lease, &length);

        value_add_text(arena, event, "lease", row->lease);
        value_add_int(arena, event, "epoch", (int64_t)row->epoch);
        add_side(arena, event, "provider",
                 arena_strn(arena, row->lease, strcspn(row->lease, "/")),
                 row->provider_available, row->provider_used);
        add_side(arena, event, "consumer", arena_strn(arena, consumer, length),
                 row->consumer_available, row->consumer_used);
    } else if (row->site && row->site[0]) {
        value_add_text(arena, event, "site", row->site);
    }
    if (row->node && row->node[0]) {
        add_node(story, event, row);
    }
    value_add_text(arena, event, "reason", row->reason);
    event_log_emit(story, event);
}

void event_log_fault(struct event_log *story, const char *kind, const char *target,
                     int64_t now_ms)
{
    struct value *event = event_log_begin(story, "fault", -1, now_ms);

    if (event) {
        value_add_text(&story->scratch, event, "kind", kind);
        value_add_text(&story->scratch, event, "target", target);
        event_log_emit(story, event);
    }
}

/* ---- slots
 * -------------------------------------------------------------------------- */

static void level_changed(struct event_log *story, int site, int64_t now_ms)
{
    const struct summary_level *level = &story->levels[site];

    summary_level(story->summary, site, level, now_ms - story->setting.epoch_ms);
    if (story->setting.on_level) {
        story->setting.on_level(story->setting.arg, site, level,
                                now_ms - story->setting.epoch_ms);
    }
}

void event_log_used(struct event_log *story, int site, int n_slots, int64_t now_ms)
{
    story->levels[site].n_used += n_slots;
    level_changed(story, site, now_ms);
}

void event_log_sized(struct event_log *story, int site, int n_slots, int64_t now_ms)
{
    story->levels[site].n_slots = n_slots;
    level_changed(story, site, now_ms);
}

static struct event_log_lease *see_book(struct event_log *story,
                                        const struct row_book *row)
{
    struct event_log_lease *book;

    HASH_FIND_STR(story->books, row->lease, book);
    if (!book) {
        size_t length;
        const char *consumer = msg_lease_consumer(row->lease, &length);

        book = mem_alloc(1, sizeof *book);
        snprintf(book->lease, sizeof book->lease, "%s", row->lease);
        book->provider = find_site(story, row->lease, strcspn(row->lease, "/"));
        book->consumer = find_site(story, consumer, length);
        HASH_ADD_STR(story->books, lease, book);
    }
    return book;
}

/* What the provider has on record is what is lent. */
static void take_book(struct event_log *story, const struct row_book *row,
                      int64_t now_ms)
{
    struct event_log_lease *book = see_book(story, row);
    int n_lent = 0;

    for (int i = 0; i < row->n_hosts && !row->is_gone && !row->is_ended; i++) {
        n_lent += row->hosts[i].consumer;
    }
    if (n_lent == book->n_lent) {
        return;
    }
    if (book->provider >= 0) {
        story->levels[book->provider].n_lent += n_lent - book->n_lent;
        level_changed(story, book->provider, now_ms);
    }
    if (book->consumer >= 0) {
        story->levels[book->consumer].n_borrowed += n_lent - book->n_lent;
        level_changed(story, book->consumer, now_ms);
    }
    book->n_lent = n_lent;
}

void event_log_stored(struct event_log *story, int site, const struct row *row,
                      int64_t now_ms)
{
    switch ((int)row->kind) {
    case ROW_HISTORY:
        tell_history(story, &row->history, now_ms);
        break;
    case ROW_BOOK:
        take_book(story, &row->book, now_ms);
        break;
    case ROW_JOB:
        event_log_job_submitted(story, site, &row->job, now_ms);
        break;
    case ROW_JOB_STATE:
        event_log_job_changed(story, site, &row->job_state, now_ms);
        break;
    default:
        break;
    }
}
