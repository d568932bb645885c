/* SPDX-License-Identifier: Apache-2.0 */
/* load_judge.c: see load_judge.h. A condition is run over all hosts at once,
 * when the first job of its queue asks for it. */
#include "site/load/load_judge.h"

#include <stdlib.h>

#include "site/config/site_config.h"

struct condition {
    struct resreq resreq;
    bool is_set;
    uint8_t *matches; /* by row */
    int n_rows;       /* that it was run over; -1: it was not */
};

enum { STOP, RESUME, CONDITIONS };

struct load_judge {
    struct load_judge_parts parts;
    struct arena arena, scratch; /* of the conditions; of what they have matched */
    struct condition (*conditions)[CONDITIONS]; /* by queue */
};

struct load_judge *load_judge_new(const struct load_judge_parts *parts)
{
    const struct site_config *config = parts->config;
    struct load_judge *judge = mem_alloc(1, sizeof(*judge));
    judge->parts = *parts;
    arena_init(&judge->arena);
    arena_init(&judge->scratch);
    judge->conditions = arena_alloc(&judge->arena, (size_t)config->n_queues + 1,
                                    sizeof(*judge->conditions));
    for (int i = 0; i < config->n_queues; i++) {
        const char *texts[CONDITIONS] = {config->queues[i].stop_cond,
                                         config->queues[i].resume_cond};
        for (int k = 0; k < CONDITIONS; k++) {
            struct condition *condition = &judge->conditions[i][k];
            condition->is_set = texts[k] != NULL;
            condition->n_rows = -1;
            if (condition->is_set) {
                threshold_config_compile(
                    &judge->arena, config,
                    host_resources_catalogue(parts->host_resources), texts[k],
                    &condition->resreq);
            }
        }
    }
    return judge;
}

void load_judge_free(struct load_judge *judge)
{
    if (judge == NULL) {
        return;
    }
    arena_release(&judge->arena);
    arena_release(&judge->scratch);
    free(judge);
}

void load_judge_clear(struct load_judge *judge, int n_queues)
{
    arena_clear(&judge->scratch);
    for (int i = 0; i < n_queues; i++) {
        judge->conditions[i][STOP].n_rows = judge->conditions[i][RESUME].n_rows = -1;
    }
}

/* Any load index: a provider tells of a host also before that has told anything. */
static bool has_load(const struct load_judge *judge, int row)
{
    const struct resource_table *table =
        host_resources_values(judge->parts.host_resources);
    const struct resources *resources =
        host_resources_catalogue(judge->parts.host_resources);
    for (int id = RESOURCE_R15S; id < resources_count(resources); id++) {
        if (load_threshold_is_index(resources_at(resources, id), id) &&
            resource_table_has(table, row, id)) {
            return true;
        }
    }
    return false;
}

void load_judge_find_host(const struct load_judge *judge, const char *host, bool is_own,
                          struct load_judged_host *host_load)
{
    *host_load = (struct load_judged_host){.host = host, .row = -1};
    if (!is_own) {
        host_load->row =
            host_resources_find_borrowed(judge->parts.host_resources, host);
        host_load->is_new = !borrowed_resources_is_reported(
            host_resources_borrowed(judge->parts.host_resources), host);
        host_load->is_told = !host_load->is_new && has_load(judge, host_load->row);
        host_load->thresholds = borrowed_resources_thresholds(
            host_resources_borrowed(judge->parts.host_resources), host);
        host_load->told = borrowed_resources_reported(
            host_resources_borrowed(judge->parts.host_resources), host,
            &host_load->told_row);
        return;
    }
    host_load->row = host_table_find(judge->parts.hosts, host);
    if (host_load->row >= 0) {
        host_load->is_told =
            host_resources_is_reported(judge->parts.host_resources, host_load->row) &&
            has_load(judge, host_load->row);
        host_load->thresholds = judge->parts.config->hosts[host_load->row].thresholds;
        host_load->told = host_resources_values(judge->parts.host_resources);
        host_load->told_row = host_load->row;
    }
}

/* ---------------------------------------------------------------- thresholds */

static bool is_beyond(const struct load_judge *judge, int queue,
                      const struct load_judged_host *host_load,
                      enum load_threshold_kind kind, struct load_excess *excess)
{
    const struct resource_table *table =
        host_resources_values(judge->parts.host_resources);
    return host_load->is_told && host_load->row >= 0 &&
           (load_thresholds_find(&host_load->thresholds, host_load->told,
                                 host_load->told_row, kind, excess) ||
            (queue >= 0 &&
             load_thresholds_find(&judge->parts.config->queues[queue].thresholds, table,
                                  host_load->row, kind, excess)));
}

bool load_judge_bars_start(const struct load_judge *judge, int queue,
                           const struct load_judged_host *host_load,
                           struct load_excess *excess)
{
    return is_beyond(judge, queue, host_load, LOAD_SCHED, excess);
}

static const char *excess_text(struct arena *arena, const struct load_excess *excess,
                               const struct load_judged_host *host_load)
{
    return arena_printf(arena, "%s on %s", load_threshold_text(arena, excess),
                        host_load->host);
}

/* ---------------------------------------------------------------- conditions */

static bool knows_all(const struct load_judge *judge,
                      const struct resreq_program *program, int row)
{
    const struct resource_table *table =
        host_resources_values(judge->parts.host_resources);
    for (int i = 0; i < program->n_named; i++) {
        int id = program->named[i];
        const struct resource *resource =
            resources_at(host_resources_catalogue(judge->parts.host_resources), id);
        if (load_threshold_is_index(resource, id) &&
            !resource_table_has(table, row, id)) {
            return false;
        }
    }
    return true;
}

static bool is_met(struct load_judge *judge, int queue, int which, int row)
{
    struct condition *condition = &judge->conditions[queue][which];
    const struct resreq_program *program = &condition->resreq.program;
    const struct resource_table *table =
        host_resources_values(judge->parts.host_resources);
    if (condition->n_rows != resource_table_rows(table)) {
        condition->n_rows = resource_table_rows(table);
        condition->matches =
            arena_alloc(&judge->scratch, (size_t)condition->n_rows + 1, 1);
        resreq_program_run(program, table, NULL, &resreq_config_nowhere,
                           condition->matches);
    }
    return condition->matches[row] != 0 && knows_all(judge, program, row);
}

const char *load_judge_stop_reason(struct load_judge *judge, struct arena *arena,
                                   int queue, const struct load_judged_host *host_load)
{
    struct load_excess excess;
    if (is_beyond(judge, queue, host_load, LOAD_STOP, &excess)) {
        return excess_text(arena, &excess, host_load);
    }
    return queue >= 0 && host_load->is_told && host_load->row >= 0 &&
                   judge->conditions[queue][STOP].is_set &&
                   is_met(judge, queue, STOP, host_load->row)
               ? arena_printf(arena, "STOP_COND of queue %s is met on %s",
                              judge->parts.config->queues[queue].name, host_load->host)
               : NULL;
}

/* There is anything that a job there has to wait for. */
static bool has_rules(const struct load_judge *judge, int queue,
                      const struct load_judged_host *host_load)
{
    return host_load->thresholds.n_items > 0 ||
           (queue >= 0 && (judge->parts.config->queues[queue].thresholds.n_items > 0 ||
                           judge->conditions[queue][STOP].is_set ||
                           judge->conditions[queue][RESUME].is_set));
}

const char *load_judge_hold_reason(struct load_judge *judge, struct arena *arena,
                                   int queue, const struct load_judged_host *host_load)
{
    struct load_excess excess;
    if (!host_load->is_new && !has_rules(judge, queue, host_load)) {
        return NULL;
    }
    if (!host_load->is_told || host_load->row < 0) {
        return arena_printf(arena, "%s does not report its load", host_load->host);
    }
    const char *stop = load_judge_stop_reason(judge, arena, queue, host_load);
    if (stop != NULL) {
        return stop;
    }
    if (queue >= 0 && judge->conditions[queue][RESUME].is_set) {
        return is_met(judge, queue, RESUME, host_load->row)
                   ? NULL
                   : arena_printf(arena, "RESUME_COND of queue %s is not met on %s",
                                  judge->parts.config->queues[queue].name,
                                  host_load->host);
    }
    return is_beyond(judge, queue, host_load, LOAD_SCHED, &excess)
               ? excess_text(arena, &excess, host_load)
               : NULL;
}

const char *load_judge_idle_reason(const struct load_judge *judge, struct arena *arena,
                                   const struct load_judged_host *host_load)
{
    const struct resource_table *table =
        host_resources_values(judge->parts.host_resources);
    int64_t wanted_ms = judge->parts.config->pg_idle_ms;
    int row = host_load->row;
    if (row < 0 || wanted_ms == 0 || !resource_table_has(table, row, RESOURCE_IT)) {
        return NULL;
    }
    double minutes = resource_table_number(table, row, RESOURCE_IT);
    return minutes * 60000 >= (double)wanted_ms
               ? NULL
               : arena_printf(arena, "it %.0f min, below %lld s on %s (PG_SUSP_IT)",
                              minutes, (long long)(wanted_ms / 1000), host_load->host);
}
