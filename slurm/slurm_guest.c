/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_guest.c: see slurm_guest.h.
 *
 * Jobs that wait find room first on nodes that are up, then on those that are coming,
 * and then with guests that wait, always with the smallest that fits. For example: jobs
 * of 1, 2 and 4 CPUs wait, a node has 2 idle CPUs, and guests of 1 and 3 slots wait.
 * The job of 1 takes a CPU of the node, that of 2 fits only the guest of 3, and for
 * that of 4 a guest is submitted. The guest of 1 is ended. */
#include "slurm/slurm_guest.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_hostlist.h"
#include "slurm/slurm_row.h"

/* ---------------------------------------------------------------- jobs */

enum { ID, CODE, CPUS, NODES, REASON, NODE_LIST, N_CELLS };

static const struct slurm_column columns[N_CELLS] = {
    [ID] = {"JobArrayID", 32, false}, [CODE] = {"StateCompact", 8, false},
    [CPUS] = {"NumCPUs", 16, false},  [NODES] = {"NumNodes", 32, false},
    [REASON] = {"Reason", 64, true},  [NODE_LIST] = {"NodeList", 4096, false},
};

const char *const *slurm_guest_job_command(struct arena *arena, const char *partition)
{
    const char **words = arena_alloc(arena, 8, sizeof(*words));
    words[0] = "squeue";
    words[1] = "--noheader";
    words[2] = "--array";
    words[3] = arena_printf(arena, "--partition=%s", partition);
    words[4] = "--states=PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,STOPPED";
    words[5] = "--Format";
    words[6] = slurm_row_format(arena, columns, N_CELLS);
    return words;
}

/* Reasons of jobs that wait for nodes. All others, such as a dependency, a time to
 * begin or a limit, would keep the job waiting also beside idle nodes. */
static bool is_for_nodes(const char *reason)
{
    static const char *const heads[] = {"None",
                                        "Priority",
                                        "Resources",
                                        "PartitionConfig",
                                        "PartitionNodeLimit",
                                        "ReqNodeNotAvail",
                                        "NodeDown",
                                        "Nodes required for job are DOWN",
                                        NULL};
    for (int i = 0; heads[i] != NULL; i++) {
        if (strncmp(reason, heads[i], strlen(heads[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* "2", or "2-4" of a job that takes more if it can. */
static int read_count(struct arena *arena, const char *cell, const char *field,
                      int64_t *count, struct err *err)
{
    struct err cause;
    const char *first = arena_strn(arena, cell, strcspn(cell, "-"));
    return conf_parse_int(first, 0, SLOTS_MAX, count, &cause) == 0
               ? 0
               : err_set(err, ERR_BOUNDS, "%s: %s", field, cause.text);
}

static int read_job(struct arena *arena, const char **text, struct slurm_guest_job *job,
                    struct err *err)
{
    const char *cells[N_CELLS];
    int64_t n_cpus, n_nodes;
    int rc = slurm_row_read(arena, text, columns, N_CELLS, cells, err);
    if (rc == 0) {
        rc = read_count(arena, cells[CPUS], "NumCPUs", &n_cpus, err);
    }
    if (rc == 0) {
        rc = read_count(arena, cells[NODES], "NumNodes", &n_nodes, err);
    }
    if (rc < 0) {
        return rc;
    }
    bool is_waiting = strcmp(cells[CODE], "PD") == 0;
    n_nodes = n_nodes > 0 ? n_nodes : 1;
    *job = (struct slurm_guest_job){.id = cells[ID],
                                    .is_running = !is_waiting,
                                    .needs_nodes =
                                        is_waiting && is_for_nodes(cells[REASON]),
                                    .n_cpus = n_cpus > 0 ? (int)n_cpus : 1,
                                    .n_nodes = (int)n_nodes};
    if (is_waiting) {
        return 0;
    }
    rc = slurm_hostlist_read(arena, cells[NODE_LIST], &job->nodes, &job->n_nodes, err);
    return rc < 0 ? err_prefix(err, "NodeList of job %s", cells[ID]) : 0;
}

int slurm_guest_job_read(struct arena *arena, const char *text,
                         struct slurm_guest_jobs *jobs, struct err *err)
{
    struct slurm_guest_jobs made = {.count = 0};
    int n_lines = slurm_row_count(text, JOBS_MAX, err);
    if (n_lines < 0) {
        return n_lines;
    }
    made.items = arena_alloc(arena, (size_t)n_lines, sizeof(*made.items));
    while (*text != '\0') {
        if (read_job(arena, &text, &made.items[made.count], err) < 0) {
            return err_prefix(err, "line %d", made.count + 1);
        }
        made.count++;
    }
    *jobs = made;
    return 0;
}

/* ---------------------------------------------------------------- what there is */

enum place_kind { PLACE_NONE, PLACE_NODE, PLACE_COMING, PLACE_WAITING };

/* A guest, with its node. */
struct place {
    const struct slurm_guest *guest;
    const struct slurm_node *node; /* NULL: it has not registered, or is gone */
    enum place_kind kind;
    int n_free; /* CPUs that jobs which wait may take */
    bool is_used, is_drained, is_leaving;
    bool is_needed; /* by a job that waits */
    int taken_by;   /* the job that takes a node of it, in this round */
};

struct planner {
    struct arena *arena;
    const struct slurm_guest_terms *terms;
    struct place *places;
    int n_places;
    const struct slurm_nodes *nodes;
    const struct slurm_guest_jobs *jobs;
    const char *const **orders;
    int *submits;
    uint64_t *ends;
    struct slurm_guest_seen *seen;
    struct slurm_guest_plan *plan;
};

static const struct slurm_node *find_node(const struct planner *planner, uint64_t job)
{
    for (int i = 0; i < planner->nodes->count; i++) {
        if (slurm_node_guest(&planner->nodes->items[i]) == job) {
            return &planner->nodes->items[i];
        }
    }
    return NULL;
}

static bool is_on(const struct slurm_guest_job *job, const char *node)
{
    for (int i = 0; i < job->n_nodes && job->is_running; i++) {
        if (strcmp(job->nodes[i], node) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_job(const struct planner *planner, const struct slurm_node *node)
{
    for (int i = 0; i < planner->jobs->count; i++) {
        if (is_on(&planner->jobs->items[i], node->name)) {
            return true;
        }
    }
    return node->used_cpus > 0 || strstr(node->state, "completing") != NULL;
}

/* New jobs can start there. */
static bool is_open(const struct slurm_node *node)
{
    return strncmp(node->state, "down", 4) != 0 &&
           strstr(node->state, "drain") == NULL &&
           strstr(node->state, "not_responding") == NULL;
}

static struct place read_guest(const struct planner *planner,
                               const struct slurm_guest *guest)
{
    const struct slurm_guest_terms *terms = planner->terms;
    struct place place = {.guest = guest, .taken_by = -1};
    place.node = guest->has_begun ? find_node(planner, guest->job) : NULL;
    place.is_leaving =
        guest->is_ending || guest->recall_ms != 0 || guest->is_drained ||
        (place.node == NULL && guest->seen.has_node) ||
        (guest->has_begun && terms->now_ms - guest->begun_ms >= terms->stay_ms);
    if (place.node != NULL) {
        place.is_used = has_job(planner, place.node);
        place.is_drained = strstr(place.node->state, "drain") != NULL;
        place.kind = is_open(place.node) ? PLACE_NODE : PLACE_NONE;
        place.n_free = place.node->cpus - place.node->used_cpus;
    } else {
        place.kind = guest->has_host ? PLACE_COMING : PLACE_WAITING;
        place.n_free = guest->n_slots;
    }
    if (place.is_leaving) {
        place.kind = PLACE_NONE;
    }
    return place;
}

/* ---------------------------------------------------------------- what is needed */

/* The smallest place of that kind which has so many CPUs for another node of job `by`.
 */
static struct place *find_place(struct planner *planner, enum place_kind kind,
                                int n_cpus, int by)
{
    struct place *best = NULL;
    for (int i = 0; i < planner->n_places; i++) {
        struct place *place = &planner->places[i];
        if (place->kind == kind && place->n_free >= n_cpus && place->taken_by != by &&
            (best == NULL || place->n_free < best->n_free)) {
            best = place;
        }
    }
    return best;
}

static bool take_place(struct planner *planner, int n_cpus, int by)
{
    static const enum place_kind kinds[] = {PLACE_NODE, PLACE_COMING, PLACE_WAITING};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct place *place = find_place(planner, kinds[i], n_cpus, by);
        if (place != NULL) {
            place->n_free -= n_cpus;
            place->taken_by = by;
            place->is_needed = true;
            return true;
        }
    }
    return false;
}

static int parts_of(int n_cpus, int size)
{
    return size > 0 ? (n_cpus + size - 1) / size : 1;
}

/* On how many nodes. Slurm divides the CPUs of a job that waits by those of the largest
 * node, so that a job seems to ask for several nodes while there are only small ones.
 */
static int count_nodes(const struct planner *planner, const struct slurm_guest_job *job)
{
    int largest = 0;
    for (int i = 0; i < planner->nodes->count; i++) {
        int n_cpus = planner->nodes->items[i].cpus;
        largest = n_cpus > largest ? n_cpus : largest;
    }
    bool is_by_size = largest > 0 && job->n_nodes == parts_of(job->n_cpus, largest);
    int n_asked = is_by_size ? 1 : job->n_nodes;
    int n_parts = parts_of(job->n_cpus, planner->terms->host_max);
    return n_asked > n_parts ? n_asked : n_parts;
}

static void read_needs(struct planner *planner)
{
    struct slurm_guest_plan *plan = planner->plan;
    for (int i = 0; i < planner->jobs->count; i++) {
        const struct slurm_guest_job *job = &planner->jobs->items[i];
        int n_nodes = job->needs_nodes ? count_nodes(planner, job) : 0;
        for (int k = 0; k < n_nodes; k++) {
            int n_cpus = parts_of(job->n_cpus, n_nodes);
            if (!take_place(planner, n_cpus, i)) {
                if (planner->n_places + plan->n_submits >= planner->terms->max) {
                    return;
                }
                planner->submits[plan->n_submits++] = n_cpus;
            }
        }
    }
}

/* ---------------------------------------------------------------- what to do */

static const char **add_order(struct planner *planner, const char *verb,
                              const char *object)
{
    const char **words = arena_alloc(planner->arena, 6, sizeof(*words));
    words[0] = "scontrol";
    words[1] = verb;
    words[2] = object;
    planner->orders[planner->plan->n_orders++] = words;
    return words;
}

static const char *node_word(const struct planner *planner,
                             const struct slurm_node *node)
{
    return arena_printf(planner->arena, "NodeName=%s", node->name);
}

static void order_state(struct planner *planner, const struct slurm_node *node,
                        const char *state, const char *reason)
{
    const char **words = add_order(planner, "update", node_word(planner, node));
    words[3] = arena_printf(planner->arena, "State=%s", state);
    words[4] = arena_printf(planner->arena, "Reason=sublet: %s", reason);
}

static void requeue_jobs(struct planner *planner, const struct slurm_node *node)
{
    for (int i = 0; i < planner->jobs->count; i++) {
        if (is_on(&planner->jobs->items[i], node->name)) {
            add_order(planner, "requeue", planner->jobs->items[i].id);
        }
    }
}

static void end_guest(struct planner *planner, const struct place *place)
{
    if (!place->guest->is_ending) {
        planner->ends[planner->plan->n_ends++] = place->guest->job;
    }
}

static const char *drain_reason(const struct planner *planner,
                                const struct place *place)
{
    const struct slurm_guest *guest = place->guest;
    int64_t now_ms = planner->terms->now_ms;
    return guest->recall_ms != 0 ? "its slots are recalled"
           : guest->is_drained   ? "its lease is drained"
           : place->is_leaving   ? "its stay is over"
           : !place->is_used && !place->is_needed && guest->seen.idle_since_ms != 0 &&
                   now_ms - guest->seen.idle_since_ms >= planner->terms->idle_ms
               ? "it is idle"
               : NULL;
}

static void plan_node(struct planner *planner, const struct place *place)
{
    const struct slurm_guest *guest = place->guest;
    const char *reason = drain_reason(planner, place);
    if (place->is_drained && !place->is_used) {
        end_guest(planner, place);
    } else if (!place->is_drained && reason != NULL) {
        order_state(planner, place->node, "DRAIN", reason);
    }
    if (place->is_used && guest->recall_ms != 0 &&
        guest->recall_ms - planner->terms->now_ms <= planner->terms->notice_ms) {
        requeue_jobs(planner, place->node);
    }
}

static void plan_guest(struct planner *planner, int index)
{
    const struct place *place = &planner->places[index];
    const struct slurm_guest *guest = place->guest;
    int64_t now_ms = planner->terms->now_ms;
    bool is_idle = place->node != NULL && !place->is_used;
    planner->seen[index].has_node = place->node != NULL;
    planner->seen[index].idle_since_ms = !is_idle ? 0
                                         : guest->seen.idle_since_ms != 0
                                             ? guest->seen.idle_since_ms
                                             : now_ms;
    if (place->node != NULL) {
        plan_node(planner, place);
    } else if (guest->has_begun) {
        if (place->is_leaving || now_ms - guest->begun_ms >= planner->terms->begin_ms) {
            end_guest(planner, place);
        }
    } else if (!guest->has_host && !place->is_needed) {
        end_guest(planner, place);
    }
}

/* A node whose guest has ended. Slurm requeues its jobs once it is down. One that has
 * had jobs may be "allocated" for ever after `scontrol reconfigure`, and could not be
 * deleted.
 */
static void plan_orphan(struct planner *planner, const struct slurm_node *node)
{
    uint64_t job = slurm_node_guest(node);
    for (int i = 0; i < planner->n_places; i++) {
        if (planner->places[i].guest->job == job) {
            return;
        }
    }
    if (job == 0) {
        return;
    }
    if (strncmp(node->state, "down", 4) != 0) {
        order_state(planner, node, "DOWN", "its lease has ended");
    }
    add_order(planner, "delete", node_word(planner, node));
}

static void prepare(struct planner *planner, const struct slurm_guest *guests,
                    int n_guests)
{
    struct arena *arena = planner->arena;
    size_t n_jobs_nodes = 0;
    for (int i = 0; i < planner->jobs->count; i++) {
        n_jobs_nodes += (size_t)planner->jobs->items[i].n_nodes;
    }
    /* Two for each node, and one for each job on it. */
    planner->orders =
        arena_alloc(arena, 2 * (size_t)planner->nodes->count + n_jobs_nodes + 1,
                    sizeof(*planner->orders));
    planner->submits = arena_alloc(arena, (size_t)planner->terms->max + 1, sizeof(int));
    planner->ends = arena_alloc(arena, (size_t)n_guests + 1, sizeof(uint64_t));
    planner->seen = arena_alloc(arena, (size_t)n_guests + 1, sizeof(*planner->seen));
    planner->places = arena_alloc(arena, (size_t)n_guests + 1, sizeof(struct place));
    for (int i = 0; i < n_guests; i++) {
        planner->places[planner->n_places++] = read_guest(planner, &guests[i]);
    }
}

void slurm_guest_plan(struct arena *arena, const struct slurm_guest_terms *terms,
                      const struct slurm_guest *guests, int n_guests,
                      const struct slurm_nodes *nodes,
                      const struct slurm_guest_jobs *jobs,
                      struct slurm_guest_plan *plan)
{
    struct planner planner = {
        .arena = arena, .terms = terms, .nodes = nodes, .jobs = jobs, .plan = plan};
    *plan = (struct slurm_guest_plan){.n_orders = 0};
    prepare(&planner, guests, n_guests);
    read_needs(&planner);
    for (int i = 0; i < n_guests; i++) {
        plan_guest(&planner, i);
    }
    for (int i = 0; i < nodes->count; i++) {
        plan_orphan(&planner, &nodes->items[i]);
    }
    plan->orders = planner.orders;
    plan->submits = planner.submits;
    plan->ends = planner.ends;
    plan->seen = planner.seen;
}

const char *slurm_guest_command(struct arena *arena, const char *slurmd)
{
    return arena_printf(arena,
                        "exec %s -D -Z -N \"sublet$LSB_JOBID\" --conf "
                        "\"CPUs=$LSB_DJOB_NUMPROC "
                        "Feature=sublet,${SUBLET_LEASE%%%%/*}\"",
                        slurmd);
}
