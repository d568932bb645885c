/* SPDX-License-Identifier: Apache-2.0 */
/* queues.c: see queues.h. */
#include "site/queues.h"

#include <stdlib.h>
#include <string.h>

struct queue_state {
    bool is_closed, is_inactive;
};

struct queues {
    const struct queue_config *config;
    int n_queues;
    struct queue_state *states; /* by index */
};

struct queues *queues_new(const struct queue_config *config, int n_queues)
{
    struct queues *queues = mem_alloc(1, sizeof(*queues));
    queues->config = config;
    queues->n_queues = n_queues;
    queues->states = mem_alloc((size_t)n_queues, sizeof(*queues->states));
    return queues;
}

void queues_free(struct queues *queues)
{
    if (queues != NULL) {
        free(queues->states);
        free(queues);
    }
}

int queues_find(const struct queues *queues, const char *name)
{
    for (int i = 0; i < queues->n_queues; i++) {
        if (strcmp(queues->config[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void queues_reload(struct queues *queues, const struct queue_config *config,
                   int n_queues)
{
    struct queue_state *states = mem_alloc((size_t)n_queues, sizeof(*states));
    for (int i = 0; i < n_queues; i++) {
        int old = queues_find(queues, config[i].name);
        states[i] = old >= 0 ? queues->states[old] : states[i];
    }
    free(queues->states);
    *queues = (struct queues){.config = config, .n_queues = n_queues, .states = states};
}

void queues_load(struct queues *queues, const struct row_queue *row)
{
    int queue = queues_find(queues, row->name);
    if (queue >= 0) { /* one that is gone says nothing, and may come back */
        queues->states[queue] = (struct queue_state){row->is_closed, row->is_inactive};
    }
}

bool queues_is_closed(const struct queues *queues, int queue)
{
    return queues->states[queue].is_closed;
}

bool queues_may_run(const struct queues *queues, int queue, int64_t local_ms)
{
    return window_is_open(&queues->config[queue].rules.run_windows, local_ms);
}

static bool is_in_window(const struct queues *queues, int queue, int64_t local_ms)
{
    const struct queue_rules *rules = &queues->config[queue].rules;
    return queues_may_run(queues, queue, local_ms) &&
           window_is_open(&rules->dispatch_windows, local_ms);
}

enum reason queues_veto(const struct queues *queues, int queue, int64_t local_ms)
{
    if (queues->states[queue].is_inactive) {
        return REASON_QUEUE_INACTIVE;
    }
    return is_in_window(queues, queue, local_ms) ? REASON_NEW : REASON_QUEUE_WINDOW;
}

int64_t queues_next_ms(const struct queues *queues, int64_t local_ms)
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

const char *queues_status(const struct queues *queues, int queue, int64_t local_ms)
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

void queues_order(struct queues *queues, int queue, enum queue_order order,
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
