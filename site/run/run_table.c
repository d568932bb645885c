/* SPDX-License-Identifier: Apache-2.0 */
/* run_table.c: see run_table.h. */
#include "site/run/run_table.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "model/dup.h"
#include "model/record.h"

struct run_table {
    const char *site;
    const struct host_table *hosts;
    struct run **runs;
    int count, capacity, n_forgotten;
    int n_bound;                /* runs with a binding, forgotten ones included */
    struct run_table_use *uses; /* by host */
    struct run **first_runs;    /* by host + 1: first those without one */
};

static void make_hosts(struct run_table *table)
{
    size_t n_hosts = (size_t)host_table_count(table->hosts);
    free(table->uses);
    free(table->first_runs);
    table->uses = mem_alloc(n_hosts, sizeof(*table->uses));
    table->first_runs = mem_alloc(n_hosts + 1, sizeof(struct run *));
}

struct run_table *run_table_new(const char *site, const struct host_table *hosts)
{
    struct run_table *table = mem_alloc(1, sizeof(*table));
    table->site = site;
    table->hosts = hosts;
    make_hosts(table);
    return table;
}

static void drop_resizing(struct run *run)
{
    struct run_resizing *resizing = &run->resizing;
    free(resizing->hosts);
    free(resizing->all);
    if (resizing->command != NULL) {
        dup_free(resizing->command);
    }
    *resizing = (struct run_resizing){0};
}

static void run_free(struct run *run)
{
    drop_resizing(run);
    dup_free(run->id.site);
    dup_free(run->job);
    dup_free(run->lease);
    free(run->hosts);
    if (run->submission == NULL) {
        free((struct job_spec *)(uintptr_t)run->spec);
    }
    submission_remove_run(run->submission);
    dup_free(run->exit.text);
    dup_free(run->boot);
    dup_free(run->orphan_lease);
    dup_free(run->binding);
    free(run);
}

void run_table_free(struct run_table *table)
{
    if (table == NULL) {
        return;
    }
    for (int i = 0; i < table->count; i++) {
        run_free(table->runs[i]);
    }
    free(table->runs);
    free(table->uses);
    free(table->first_runs);
    free(table);
}

bool run_table_is_own(const struct run_table *table, const struct run *run)
{
    return strcmp(run->id.site, table->site) == 0;
}

/* ---------------------------------------------------------------- slots */

static void add_use(struct run_table *table, const struct run *run, int sign)
{
    for (int i = 0; i < run->n_hosts; i++) {
        int host =
            i == 0 ? run->host : host_table_find(table->hosts, run->hosts[i].host);
        if (host < 0) {
            continue;
        }
        struct run_table_use *use = &table->uses[host];
        bool is_own = run->lease[0] == '\0';
        int *n_exclusive = run->is_suspended && is_own ? &use->n_exclusive_suspended
                                                       : &use->n_exclusive;
        *n_exclusive += run->spec->is_exclusive ? sign : 0;
        int *count = run->is_suspended
                         ? is_own ? &use->own_suspended : &use->consumers_suspended
                     : is_own ? &use->own
                              : &use->consumers;
        *count += sign * run->hosts[i].n_slots;
    }
}

/* The list has room for a power of two. */
static void add_attempt(struct arena *arena, struct affinity_host *host,
                        uint64_t attempt)
{
    int n = host->n_attempts;
    uint64_t *attempts = (uint64_t *)(uintptr_t)host->attempts;
    if ((n & (n - 1)) == 0) {
        attempts = arena_alloc(arena, n > 0 ? (size_t)n * 2 : 1, sizeof(*attempts));
        for (int i = 0; i < n; i++) {
            attempts[i] = host->attempts[i];
        }
    }
    attempts[n] = attempt;
    host->attempts = attempts;
    host->n_attempts = n + 1;
}

/* The processors of one run, on the hosts whose topology is there. */
static void add_bound(const struct run_table *table, const struct run *run,
                      struct arena *arena, struct affinity_use **uses,
                      struct affinity_host *hosts)
{
    struct cpu_binding binding;
    struct err err;
    if (cpu_binding_parse(arena, run->binding, &binding, &err) != 0) {
        return; /* of a journal that was edited by hand: as without affinity */
    }
    const struct affinity_request request = affinity_of_binding(&binding);
    for (int i = 0; i < binding.n_hosts; i++) {
        int host = host_table_find(table->hosts, binding.hosts[i].host);
        if (host < 0 || hosts[host].topology == NULL) {
            continue;
        }
        if (uses[host] == NULL) {
            hosts[host].use = uses[host] = arena_alloc(arena, 1, sizeof(*uses[host]));
        }
        add_attempt(arena, &hosts[host],
                    run_table_is_own(table, run) ? run->id.attempt : 0);
        for (int k = 0; k < binding.hosts[i].n_tasks; k++) {
            affinity_take(hosts[host].topology, &request, &binding.hosts[i].tasks[k],
                          uses[host]);
        }
    }
}

void run_table_bound(const struct run_table *table, struct arena *arena,
                     struct affinity_host *hosts)
{
    struct affinity_use **uses =
        arena_alloc(arena, (size_t)host_table_count(table->hosts), sizeof(*uses));
    for (int i = 0; i < table->count && table->n_bound > 0; i++) {
        const struct run *run = table->runs[i];
        if (run->binding[0] != '\0' && !run->is_forgotten &&
            run->record != RUN_RECORD_ENDED) {
            add_bound(table, run, arena, uses, hosts);
        }
    }
}

const struct run_table_use *run_table_use(const struct run_table *table, int host)
{
    return &table->uses[host];
}

/* The run is suspended as ordered, and its slots are not in use. The consumer decides
 * the same of its attempts. SIGKILL does not resume a run, but if post-execution
 * commands follow, they use the slots. */
static bool has_yielded(const struct run *run)
{
    const struct run_control *control = &run->control;
    if (run->record == RUN_RECORD_ENDED || run->phase != RUN_SUSPENDED) {
        return false;
    }
    if (control->action == CONTROL_KILL) {
        return run->is_suspended && run->spec->n_post_execs == 0 &&
               control->signal == SIGKILL;
    }
    return control->number != 0 && control->action == CONTROL_SUSPEND &&
           run->control_done >= control->number &&
           (control->yields || run->lease[0] != '\0');
}

bool run_table_update_suspended(struct run_table *table, struct run *run)
{
    bool is_suspended = has_yielded(run);
    if (is_suspended == run->is_suspended) {
        return false;
    }
    add_use(table, run, -1);
    run->is_suspended = is_suspended;
    add_use(table, run, 1);
    return true;
}

/* ---------------------------------------------------------------- hosts */

static void add_to_host(struct run_table *table, struct run *run)
{
    DL_APPEND(table->first_runs[run->host + 1], run);
}

static void remove_from_host(struct run_table *table, struct run *run)
{
    DL_DELETE(table->first_runs[run->host + 1], run);
}

void run_table_change_hosts(struct run_table *table, const int *places)
{
    make_hosts(table);
    for (int i = 0; i < table->count; i++) {
        struct run *run = table->runs[i];
        /* A host that was gone and is back is found again by its name. */
        run->host = run->host >= 0 ? places[run->host]
                    : run->n_hosts > 0
                        ? host_table_find(table->hosts, run->hosts[0].host)
                        : -1;
        add_to_host(table, run);
        if (run->record != RUN_RECORD_ENDED && !run->is_forgotten) {
            add_use(table, run, 1);
        }
    }
}

/* ---------------------------------------------------------------- finding */

static int compare(const struct run_id *a, const struct run_id *b)
{
    int order = strcmp(a->site, b->site);
    return order != 0 ? order : a->attempt < b->attempt ? -1 : a->attempt > b->attempt;
}

static int place_of(const struct run_table *table, const struct run_id *id)
{
    int low = 0, high = table->count;
    if (high > 0 && compare(&table->runs[high - 1]->id, id) < 0) {
        return high; /* a new one of the site's own, most often */
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(&table->runs[middle]->id, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int compare_runs(const void *a, const void *b)
{
    return compare(&(*(struct run *const *)a)->id, &(*(struct run *const *)b)->id);
}

struct run **run_table_of_host(const struct run_table *table, int host,
                               struct arena *arena)
{
    struct run *run;
    size_t count = 0;
    DL_COUNT(table->first_runs[host + 1], run, count);
    struct run **runs = arena_alloc(arena, count + 1, sizeof(struct run *));
    count = 0;
    DL_FOREACH (table->first_runs[host + 1], run) {
        if (!run->is_forgotten) {
            runs[count++] = run;
        }
    }
    qsort(runs, count, sizeof(struct run *), compare_runs);
    return runs;
}

struct run *run_table_find(const struct run_table *table, const struct run_id *id)
{
    int place = place_of(table, id);
    if (place == table->count || compare(&table->runs[place]->id, id) != 0) {
        return NULL;
    }
    return run_table_at(table, place);
}

struct run *run_table_find_own(const struct run_table *table, uint64_t attempt)
{
    return run_table_find(table,
                          &(struct run_id){.site = table->site, .attempt = attempt});
}

int run_table_count(const struct run_table *table)
{
    return table->count;
}

struct run *run_table_at(const struct run_table *table, int index)
{
    return table->runs[index]->is_forgotten ? NULL : table->runs[index];
}

/* ---------------------------------------------------------------- rows */

static void set_exit(struct run *run, const struct run_exit *exit)
{
    const char *text = dup_text(exit->text);
    dup_free(run->exit.text);
    run->exit = *exit;
    run->exit.text = text;
}

static void set_spec(struct run *run, const struct job_spec *spec,
                     struct submission *submission)
{
    static const struct job_spec nothing = {0};
    if (submission != NULL) {
        submission_add_run(submission);
        run->submission = submission;
        run->spec = &submission->row->spec;
    } else {
        run->spec = record_dup(&schema_run_job_spec, spec != NULL ? spec : &nothing);
    }
}

static struct run *insert(struct run_table *table, const struct row_run *row,
                          struct submission *submission)
{
    int place = place_of(table, &row->run);
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        table->runs =
            mem_grow(table->runs, (size_t)table->capacity, sizeof(*table->runs));
    }
    memmove(&table->runs[place + 1], &table->runs[place],
            (size_t)(table->count - place) * sizeof(*table->runs));
    table->count++;
    struct run *run = table->runs[place] = mem_alloc(1, sizeof(*run));
    run->id.site = dup_text(row->run.site);
    run->id.attempt = row->run.attempt;
    run->id.nonce = row->run.nonce;
    run->job = dup_text(row->job);
    run->lease = dup_text(row->lease);
    run->hosts = record_dup_list(&schema_run_slots, row->hosts, row->n_hosts);
    run->n_hosts = row->n_hosts;
    set_spec(run, row->spec, submission);
    run->host =
        row->n_hosts > 0 ? host_table_find(table->hosts, row->hosts[0].host) : -1;
    add_to_host(table, run);
    run->boot = dup_text("");
    run->orphan_lease = dup_text("");
    run->binding = dup_text(row->binding);
    table->n_bound += run->binding[0] != '\0';
    run->record = row->record;
    set_exit(run, &row->exit);
    if (run->record != RUN_RECORD_ENDED) {
        add_use(table, run, 1);
    }
    return run;
}

struct run *run_table_put(struct run_table *table, const struct row_run *row,
                          struct submission *submission)
{
    struct run *run = run_table_find(table, &row->run);
    if (run == NULL) {
        run = insert(table, row, submission);
    }
    if (row->record == RUN_RECORD_ENDED && run->record != RUN_RECORD_ENDED) {
        run_table_end(table, run, &row->exit);
    }
    run->record = row->record;
    run->token = row->token;
    run->priority = row->priority;
    run->end_by_ms = row->end_by_ms;
    run->control = row->control;
    run->use = row->use;
    return run;
}

static void add_up_use(struct run *run, int64_t now_ms)
{
    /* A suspended run that is killed does not get its slots back. */
    bool is_used = run->record != RUN_RECORD_ENDED && !run->is_suspended &&
                   run->control.action != CONTROL_SUSPEND;
    int n_slots = is_used ? msg_sum_slots(run->hosts, run->n_hosts) : 0;
    struct run_use *use = &run->use;
    if (run->lease[0] == '\0' || (use->at_ms != 0 && use->n_slots == n_slots)) {
        return;
    }
    if (use->at_ms != 0 && now_ms > use->at_ms) {
        use->used_ms += use->n_slots * (now_ms - use->at_ms);
    }
    use->start_ms = use->at_ms == 0 ? now_ms : use->start_ms;
    use->at_ms = now_ms > use->at_ms ? now_ms : use->at_ms;
    use->n_slots = n_slots;
}

static void store(const struct run *run, bool with_spec, struct effects *effects)
{
    struct row row = {
        .kind = ROW_RUN,
        .run =
            {
                .run = run->id,
                .job = run->job,
                .lease = run->lease,
                .record = run->record,
                .hosts = run->hosts,
                .n_hosts = run->n_hosts,
                .spec = with_spec ? run->spec : NULL,
                .token = run->token,
                .priority = run->priority,
                .end_by_ms = run->end_by_ms,
                .binding = run->binding,
                .control = run->control,
                .exit = run->exit,
                .use = run->use,
                .is_gone = run->is_forgotten,
            },
    };
    effects_store(effects, &row);
}

void run_table_store(struct run *run, bool with_spec, int64_t now_ms,
                     struct effects *effects)
{
    add_up_use(run, now_ms);
    store(run, with_spec, effects);
}

void run_table_set_hosts(struct run_table *table, struct run *run,
                         const struct host_slots *hosts, int n_hosts)
{
    struct host_slots *kept =
        record_dup_list(&schema_run_slots, hosts, n_hosts); /* they may be its own */
    bool is_counted = run->record != RUN_RECORD_ENDED;
    if (is_counted) {
        add_use(table, run, -1);
    }
    free(run->hosts);
    run->hosts = kept;
    run->n_hosts = n_hosts;
    if (is_counted) {
        add_use(table, run, 1);
    }
}

void run_table_set_resizing(struct run *run, const struct msg_run_resize *order)
{
    drop_resizing(run);
    if (order != NULL) {
        run->resizing = (struct run_resizing){
            .number = order->number,
            .event = order->event,
            .hosts = record_dup_list(&schema_run_slots, order->hosts, order->n_hosts),
            .n_hosts = order->n_hosts,
            .all = record_dup_list(&schema_run_slots, order->all, order->n_all),
            .n_all = order->n_all,
            .command = dup_text(order->command)};
    }
}

void run_table_end(struct run_table *table, struct run *run,
                   const struct run_exit *exit)
{
    if (run->record != RUN_RECORD_ENDED) {
        add_use(table, run, -1);
    }
    run->record = RUN_RECORD_ENDED;
    drop_resizing(run);
    run->is_suspended = false;
    run->phase = RUN_ENDED;
    run->is_away = false;
    set_exit(run, exit);
}

void run_table_keep_suspended(struct run_table *table, struct run *run, int64_t now_ms,
                              struct effects *effects)
{
    run->control = (struct run_control){
        .number = run->control_done, .action = CONTROL_SUSPEND, .yields = true};
    run_table_update_suspended(table, run);
    run_table_store(run, false, now_ms, effects);
}

void run_table_forget(struct run_table *table, struct run *run, struct effects *effects)
{
    if (run->record != RUN_RECORD_ENDED) {
        add_use(table, run, -1);
    }
    run->is_forgotten = true;
    table->n_forgotten++;
    if (!run->is_orphan) {
        store(run, false, effects);
    }
}

void run_table_sweep(struct run_table *table)
{
    if (table->n_forgotten == 0) {
        return;
    }
    int kept = 0;
    for (int i = 0; i < table->count; i++) {
        if (table->runs[i]->is_forgotten) {
            remove_from_host(table, table->runs[i]);
            table->n_bound -= table->runs[i]->binding[0] != '\0';
            run_free(table->runs[i]);
        } else {
            table->runs[kept++] = table->runs[i];
        }
    }
    table->count = kept;
    table->n_forgotten = 0;
}
