/* SPDX-License-Identifier: Apache-2.0 */
/* queue_table.c: see queue_table.h. */
#include "site/job/queue_table.h"

#include <stdlib.h>
#include <string.h>

struct queue_state {
    bool is_closed, is_inactive;
};

struct queue_table {
    const struct queue_config *config;
    int n_queues;
    struct queue_state *states; /* by index */
};

struct queue_table *queue_table_new(const struct queue_config *config, int n_queues)
{
    struct queue_table *queues = mem_alloc(1, sizeof(*queues));
    queues->config = config;
    queues->n_queues = n_queues;
    queues->states = mem_alloc((size_t)n_queues, sizeof(*queues->states));
    return queues;
}

void queue_table_free(struct queue_table *queues)
{
    if (queues != NULL) {
        free(queues->states);
        free(queues);
    }
}

int queue_table_find(const struct queue_table *queues, const char *name)
{
    for (int i = 0; i < queues->n_queues; i++) {
        if (strcmp(queues->config[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void queue_table_reload(struct queue_table *queues, const struct queue_config *config,
                        int n_queues)
{
    struct queue_state *states = mem_alloc((size_t)n_queues, sizeof(*states));
    for (int i = 0; i < n_queues; i++) {
        int old = queue_table_find(queues, config[i].name);
        states[i] = old >= 0 ? queues->states[old] : states[i];
    }
    free(queues->states);
    *queues =
        (struct queue_table){.config = config, .n_queues = n_queues, .states = states};
}

void queue_table_load(struct queue_table *queues, const struct row_queue *row)
{
    int queue = queue_table_find(queues, row->name);
    if (queue >= 0) { /* else it is not configured any more */
        queues->states[queue] = (struct queue_state){row->is_closed, row->is_inactive};
    }
}

bool queue_table_is_closed(const struct queue_table *queues, int queue)
{
    return queues->states[queue].is_closed;
}

bool queue_table_may_run(const struct queue_table *queues, int queue, int64_t local_ms)
{
    return window_is_open(&queues->config[queue].rules.run_windows, local_ms);
}

static bool is_in_window(const struct queue_table *queues, int queue, int64_t local_ms)
{
    const struct queue_rules *rules = &queues->config[queue].rules;
    return queue_table_may_run(queues, queue, local_ms) &&
           window_is_open(&rules->dispatch_windows, local_ms);
}

enum pending_reason queue_table_veto(const struct queue_table *queues, int queue,
                                     int64_t local_ms)
{
    if (queues->states[queue].is_inactive) {
        return REASON_QUEUE_INACTIVE;
    }
    return is_in_window(queues, queue, local_ms) ? REASON_NEW : REASON_QUEUE_WINDOW;
}

bool queue_table_has_deadline(const struct queue_config *queue)
{
    return queue->rules.run_windows.n_items > 0 && !queue->rules.ignores_deadline;
}

/* Windows may overlap, or follow each other. */
int64_t queue_table_closes_ms(const struct queue_table *queues, int queue,
                              int64_t local_ms)
{
    const struct window_list *windows = &queues->config[queue].rules.run_windows;
    int64_t at_ms = local_ms;
    for (int i = 0; i <= 2 * windows->n_items && at_ms != INT64_MAX; i++) {
        at_ms = window_next_ms(windows, at_ms);
        if (at_ms != INT64_MAX && !window_is_open(windows, at_ms)) {
            return at_ms;
        }
    }
    return INT64_MAX;
}

int64_t queue_table_next_ms(const struct queue_table *queues, int64_t local_ms)
{
    int64_t next_ms = INT64_MAX;
    for (int i = 0; i < queues->n_queues; i++) {
        const struct queue_rules *rules = &queues->config[i].rules;
        int64_t run_ms = window_next_ms(&rules->run_windows, local_ms);
        int64_t dispatch_ms = window_next_ms(&rules->dispatch_windows, local_ms);
        next_ms = run_ms < next_ms ? run_ms : next_ms;
        next_ms = dispatch_ms < next_ms ? dispatch_ms : next_ms;
    }
    return next_ms;
}

const char *queue_table_status(const struct queue_table *queues, int queue,
                               int64_t local_ms)
{
    static const char *const words[2][3] = {
        {"Open:Active", "Open:Inact_Win", "Open:Inact_Adm"},
        {"Closed:Active", "Closed:Inact_Win", "Closed:Inact_Adm"},
    };
    const struct queue_state *state = &queues->states[queue];
    int activity = state->is_inactive                      ? 2
                   : is_in_window(queues, queue, local_ms) ? 0
                                                           : 1;
    return words[state->is_closed][activity];
}

void queue_table_control(struct queue_table *queues, int queue, enum queue_order order,
                         struct effects *effects)
{
    struct queue_state *state = &queues->states[queue];
    switch (order) {
    case QUEUE_OPEN:
        state->is_closed = false;
        break;
    case QUEUE_CLOSE:
        state->is_closed = true;
        break;
    case QUEUE_ACTIVATE:
        state->is_inactive = false;
        break;
    case QUEUE_INACTIVATE:
        state->is_inactive = true;
        break;
    }
    effects_store(effects, &(struct row){.kind = ROW_QUEUE,
                                         .queue = {.name = queues->config[queue].name,
                                                   .is_closed = state->is_closed,
                                                   .is_inactive = state->is_inactive}});
}
