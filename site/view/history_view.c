/* SPDX-License-Identifier: Apache-2.0 */
/* history_view.c: see site_view.h. */
#include "site/view/site_view.h"

#include "model/job_id.h"
#include "site/job/job.h"

enum {
    SHOWN_HOSTS = 20,   /* of an event */
    REASON_BYTES = 300, /* likewise */
};

/* One row: a job, and its events. */
struct past {
    const struct row_job_event *first; /* NULL: that event was deleted */
    const struct row_job_event *events;
    int n_events;
    enum job_state state;
    int64_t in_state_ms[JOB_STATES];
    int64_t start_ms, end_ms;
    const struct row_job_event *end;
    const char *queue;
};

static bool is_ended(enum job_state state)
{
    return state == JOB_DONE || state == JOB_EXIT;
}

static void add_time(struct past *past, int64_t from_ms, int64_t to_ms)
{
    if (from_ms != 0 && to_ms > from_ms && !is_ended(past->state)) {
        past->in_state_ms[past->state] += to_ms - from_ms;
    }
}

static void sum_states(struct past *past, int64_t now_ms)
{
    int64_t at_ms = past->first != NULL ? past->first->at_ms : 0;
    past->state = JOB_PEND;
    for (int i = 0; i < past->n_events; i++) {
        const struct row_job_event *event = &past->events[i];
        add_time(past, at_ms, event->at_ms);
        at_ms = event->at_ms;
        past->state = event->state;
        if (event->event == JOB_EVENT_START) {
            past->start_ms = event->at_ms;
        } else if (event->event == JOB_EVENT_REQUEUE) {
            past->start_ms = 0;
        } else if (event->event == JOB_EVENT_SWITCH) {
            past->queue = event->reason;
        } else if (event->event == JOB_EVENT_END) {
            past->end = event;
            past->end_ms = event->at_ms;
        }
    }
    add_time(past, at_ms, now_ms);
}

/* ---------------------------------------------------------------- rows */

static struct value *event_row(struct arena *arena, const struct row_job_event *event)
{
    struct value *row = value_object(arena);
    value_add_instant(arena, row, "at", event->at_ms);
    value_add_text(arena, row, "event", row_job_event_name(event->event));
    value_add_text(arena, row, "state", job_state_name(event->state));
    if (event->n_hosts > 0) {
        struct value *hosts = value_add(arena, row, "hosts", value_object(arena));
        for (int i = 0; i < event->n_hosts && i < SHOWN_HOSTS; i++) {
            value_add_int(arena, hosts, event->hosts[i].host, event->hosts[i].n_slots);
        }
    } else {
        value_add_null(arena, row, "hosts");
    }
    value_add_int(arena, row, "n_hosts", event->n_hosts);
    value_add_nonempty(arena, row, "lease", event->lease);
    value_add_text(arena, row, "reason",
                   event->reason[0] != '\0'
                       ? value_cut_text(arena, event->reason, REASON_BYTES)
                       : NULL);
    value_add_known(arena, row, "exit_code", event->end.has_code, event->end.code);
    return row;
}

static void add_events(const struct history_view *view, struct value *row,
                       const struct past *past)
{
    struct arena *arena = view->page->arena;
    int n_left = past->n_events - view->shown_max;
    struct value *list = value_add(arena, row, "events", value_array(arena));
    if (past->first != NULL) {
        value_add(arena, list, NULL, event_row(arena, past->first));
    }
    for (int i = n_left > 0 ? n_left : 0; i < past->n_events; i++) {
        if (&past->events[i] != past->first) {
            value_add(arena, list, NULL, event_row(arena, &past->events[i]));
        }
    }
    value_add_int(arena, row, "events_left_out", n_left > 0 ? n_left : 0);
}

static void add_terms(struct arena *arena, struct value *row, const struct past *past,
                      int index)
{
    static const struct job_facts unknown = {0};
    const struct job_facts *facts =
        past->first != NULL ? &past->first->facts : &unknown;
    value_add_text(arena, row, "name",
                   facts->name != NULL && facts->name[0] != '\0'
                       ? job_id_element_name(arena, facts->name, index)
                       : facts->command);
    value_add_text(arena, row, "user", facts->user);
    value_add_text(arena, row, "queue",
                   past->queue != NULL ? past->queue : facts->queue);
    value_add_text(arena, row, "project",
                   facts->project != NULL && facts->project[0] != '\0' ? facts->project
                                                                       : NULL);
    value_add_text(arena, row, "command", facts->command);
    value_add_known(arena, row, "slots", facts->n_slots > 0, facts->n_slots);
    value_add_instant(arena, row, "submit_at",
                      past->first != NULL ? past->first->at_ms : 0);
}

static void add_times(struct arena *arena, struct value *row, const struct past *past)
{
    static const struct {
        const char *key;
        enum job_state state;
    } states[] = {{"pend_s", JOB_PEND},   {"psusp_s", JOB_PSUSP},
                  {"run_s", JOB_RUN},     {"ususp_s", JOB_USUSP},
                  {"ssusp_s", JOB_SSUSP}, {"unkwn_s", JOB_UNKWN}};
    int64_t total_ms = 0;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        value_add_duration(arena, row, states[i].key,
                           past->in_state_ms[states[i].state]);
        total_ms += past->in_state_ms[states[i].state];
    }
    value_add_duration(arena, row, "total_s", total_ms);
}

/* "12[3]", "12[3]@south". */
static void add_id(struct arena *arena, struct value *row, const char *site,
                   uint64_t id, int index)
{
    const char *text = job_id_text(arena, id, index);
    value_add_text(arena, row, "id",
                   site[0] == '\0' ? text : arena_printf(arena, "%s@%s", text, site));
}

/* Adds the row if it fits the page; its number is the key of the job. */
static void add_job(const struct history_view *view, const struct row_job_event *any,
                    struct past *past, int index)
{
    uint64_t key = job_id_key(any->id, index);
    struct arena *arena = view->page->arena;
    static const struct job_event_end none = {.cpu_ms = -1};
    if (!page_wants(view->page, key)) {
        return;
    }
    struct value *row = value_object(arena);
    sum_states(past, view->now_ms);
    const struct job_event_end *end = past->end != NULL ? &past->end->end : &none;
    add_id(arena, row, any->site, any->id, index);
    value_add_text(arena, row, "state", job_state_name(past->state));
    add_terms(arena, row, past, index);
    value_add_instant(arena, row, "start_at", past->start_ms);
    value_add_instant(arena, row, "end_at", past->end_ms);
    value_add_known(arena, row, "exit_code", end->has_code, end->code);
    value_add_duration(arena, row, "cpu_s", end->cpu_ms);
    add_times(arena, row, past);
    add_events(view, row, past);
    page_add(view->page, job_id_text(arena, any->id, index), row);
}

/* The first event, which describes the job; NULL: it was deleted. */
static const struct row_job_event *find_first(const struct row_job_event *events,
                                              int n_events)
{
    for (int i = 0; i < n_events; i++) {
        if (events[i].facts.is_given) {
            return &events[i];
        }
    }
    return NULL;
}

void history_view_add(const struct history_view *view,
                      const struct row_job_event *events, int n_events)
{
    int at = 0;
    while (at < n_events && events[at].index == 0) {
        at++;
    }
    const struct row_job_event *first = find_first(events, at);
    if (at == n_events && n_events > 0) {
        struct past past = {.first = first, .events = events, .n_events = n_events};
        add_job(view, events, &past, view->index);
    }
    while (at < n_events && !view->page->is_full) {
        int end = at, index = events[at].index;
        while (end < n_events && events[end].index == index) {
            end++;
        }
        struct past past = {
            .first = first, .events = &events[at], .n_events = end - at};
        if (first == NULL) {
            past.first = find_first(&events[at], end - at); /* a consumer's element */
        }
        add_job(view, &events[at], &past, index);
        at = end;
    }
}
