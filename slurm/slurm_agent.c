/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_agent.c: see slurm_agent.h.
 *
 * A cycle is NODES, JOBS, RESERVATIONS, then the orders of the plan, again from NODES
 * if one of them was taken. Between two commands of a cycle, commands of runs have
 * their turn: none of them changes what a plan depends on, because the ledger lets no
 * node go home that a run uses. LIST is a squeue between two cycles, for the effect of
 * one. */
#include "slurm/slurm_agent_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/resend.h"
#include "slurm/slurm_sections.h"

enum { HOLD_AGAIN_MS = 1000 };

struct slurm_agent *slurm_agent_new(const struct slurm_agent_config *config,
                                    const struct slurm_agent_io *io)
{
    struct slurm_agent *agent = mem_alloc(1, sizeof(*agent));
    *agent = (struct slurm_agent){
        .config = *config, .io = *io, .list_ms = INT64_MAX, .cycle_ms = 0};
    rng_init(&agent->rng, config->seed);
    arena_init(&agent->contracts_arena);
    arena_init(&agent->arenas[0]);
    arena_init(&agent->arenas[1]);
    arena_init(&agent->command);
    arena_init(&agent->listing);
    effects_init(&agent->effects);
    return agent;
}

void slurm_agent_free(struct slurm_agent *agent)
{
    if (agent == NULL) {
        return;
    }
    while (agent->n_runs > 0) {
        slurm_agent_run_free(agent, agent->runs[agent->n_runs - 1]);
    }
    for (int i = 0; i < agent->n_nodes; i++) {
        free(agent->nodes[i]);
    }
    free(agent->nodes);
    free(agent->runs);
    arena_release(&agent->contracts_arena);
    arena_release(&agent->arenas[0]);
    arena_release(&agent->arenas[1]);
    arena_release(&agent->command);
    arena_release(&agent->listing);
    effects_release(&agent->effects);
    free(agent);
}

const struct slurm_answers *slurm_agent_answers(const struct slurm_agent *agent)
{
    return agent->known;
}

uint64_t slurm_agent_count_commands(const struct slurm_agent *agent)
{
    return agent->n_commands;
}

/* ---------------------------------------------------------------- nodes */

static struct agent_node *find_node(const struct slurm_agent *agent, const char *name)
{
    int low = 0, high = agent->n_nodes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(agent->nodes[middle]->name, name);
        if (order == 0) {
            return agent->nodes[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct agent_node *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* A host's boot is not known, so that a run that has lost its directory counts as one
 * that may have begun. */
static void add_node(struct slurm_agent *agent, const char *name, int64_t now_ms)
{
    struct agent_node *node = mem_alloc(1, sizeof(*node));
    snprintf(node->name, sizeof(node->name), "%s", name);
    exec_session_init(&node->session, node->name, "", now_ms);
    exec_session_begin(&node->session, 0, now_ms);
    agent->nodes =
        mem_grow(agent->nodes, (size_t)agent->n_nodes + 1, sizeof(struct agent_node *));
    agent->nodes[agent->n_nodes++] = node;
}

void slurm_agent_set_nodes(struct slurm_agent *agent, const char *const *names,
                           int n_names, int64_t now_ms)
{
    int n_before = agent->n_nodes;
    for (int i = 0; i < n_before; i++) {
        agent->nodes[i]->is_gone = agent->nodes[i]->session.runs == NULL;
    }
    for (int i = 0; i < n_names; i++) {
        struct slurm_agent old = {.nodes = agent->nodes, .n_nodes = n_before};
        struct agent_node *node = find_node(&old, names[i]);
        if (node == NULL) {
            add_node(agent, names[i], now_ms);
        } else {
            node->is_gone = false;
        }
    }
    if (agent->n_nodes > 0) {
        qsort(agent->nodes, (size_t)agent->n_nodes, sizeof(struct agent_node *),
              compare_nodes);
    }
}

void slurm_agent_load(struct slurm_agent *agent, const struct slurm_run_record *record,
                      int64_t now_ms)
{
    if (find_node(agent, record->node) == NULL) {
        const char *name = record->node;
        add_node(agent, name, now_ms);
        qsort(agent->nodes, (size_t)agent->n_nodes, sizeof(struct agent_node *),
              compare_nodes);
    }
    struct agent_node *node = find_node(agent, record->node);
    if (exec_session_find(&node->session, &record->run) == NULL) {
        slurm_agent_run_add(agent, node, record)->is_uncertain = true;
    }
}

/* ---------------------------------------------------------------- contracts */

static const char *const *copy_names(struct arena *arena, const char *const *names,
                                     int n_names)
{
    const char **copy = arena_alloc(arena, (size_t)n_names + 1, sizeof(*copy));
    for (int i = 0; i < n_names; i++) {
        copy[i] = arena_str(arena, names[i]);
    }
    return copy;
}

void slurm_agent_set_contracts(struct slurm_agent *agent,
                               const struct slurm_contract *contracts, int n_contracts,
                               int64_t now_ms)
{
    struct arena *arena = &agent->contracts_arena;
    arena_clear(arena);
    agent->contracts =
        arena_alloc(arena, (size_t)n_contracts + 1, sizeof(*agent->contracts));
    agent->n_contracts = n_contracts;
    for (int i = 0; i < n_contracts; i++) {
        struct slurm_contract *copy = &agent->contracts[i];
        *copy = contracts[i];
        copy->policy = arena_str(arena, copy->policy);
        copy->consumer = arena_str(arena, copy->consumer);
        copy->users = arena_str(arena, copy->users);
        copy->nodes = copy_names(arena, copy->nodes, copy->n_nodes);
        copy->held = copy_names(arena, copy->held, copy->n_held);
    }
    agent->is_stale = true;
    agent->cycle_ms = now_ms;
}

/* ---------------------------------------------------------------- to the site */

struct values {
    struct arena *arena;
    struct load_value *items;
    int count;
};

static void add_value(void *arg, const char *name, const char *value)
{
    struct values *values = arg;
    values->items[values->count++] = (struct load_value){.name = name, .value = value};
}

static void fill_load(struct slurm_agent *agent, const struct agent_node *node,
                      struct msg_host_load *load)
{
    enum { VALUES = 16 };
    struct arena *arena = &agent->effects.arena;
    struct values values = {arena, arena_alloc(arena, VALUES, sizeof(*values.items)),
                            0};
    int index = agent->known != NULL
                    ? slurm_use_find_node(&agent->known->nodes, node->name)
                    : -1;
    load->is_out = index < 0;
    if (index >= 0) {
        slurm_sections_report(arena, &agent->known->nodes.items[index], add_value,
                              &values);
        load->is_out = agent->uses[index].is_out;
        load->n_foreign = agent->uses[index].n_foreign;
    }
    load->values = values.items;
    load->n_values = values.count;
}

static void send_to_site(struct slurm_agent *agent, const struct agent_node *node,
                         const struct msg *msg)
{
    struct msg filled = *msg;
    if (msg->kind == MSG_HOST_LOAD) {
        fill_load(agent, node, &filled.host_load);
    } else if (msg->kind == MSG_RUN_FOUND &&
               !agent->io.read_start(agent->io.arg, &msg->run_start.run,
                                     &filled.run_start, &agent->effects.arena)) {
        return;
    }
    agent->io.send(agent->io.arg, node->name, &filled);
}

/* Carries out what a session's step has asked for. Orders about runs may add more. */
static void carry_out(struct slurm_agent *agent, struct agent_node *node)
{
    for (int i = 0; i < agent->effects.count; i++) {
        const struct effect effect = agent->effects.items[i];
        if (effect.kind == EFFECT_LOG) {
            slurm_agent_io_log(agent, effect.log.level, "node %s: %s", node->name,
                               effect.log.text);
        } else if (effect.kind == EFFECT_SEND && effect.send.to.kind == PEER_RUN) {
            slurm_agent_run_message(agent, node, &effect.send.msg);
        } else if (effect.kind == EFFECT_SEND) {
            send_to_site(agent, node, &effect.send.msg);
        }
    }
    effects_clear(&agent->effects);
}

static void step(struct slurm_agent *agent, struct agent_node *node,
                 const struct event *event)
{
    exec_session_step(&node->session, event, &agent->effects);
    carry_out(agent, node);
}

void slurm_agent_message(struct slurm_agent *agent, const char *name,
                         const struct msg *msg, int64_t now_ms)
{
    struct agent_node *node = find_node(agent, name);
    struct event event = {.kind = EVENT_MESSAGE,
                          .now_ms = now_ms,
                          .from = {.kind = PEER_SITE, .name = "site"},
                          .msg = msg};
    agent->now_ms = now_ms;
    if (node != NULL) {
        step(agent, node, &event);
    }
}

/* ---------------------------------------------------------------- what was read */

/* The candidate is in the reservation of the next epoch, but slurmctld does not show it
 * as held yet, or something of an earlier job is still there. */
static bool is_on_its_way(struct slurm_agent *agent,
                          const struct slurm_contract *contract, const char *name)
{
    struct arena *arena = &agent->arenas[agent->reading];
    int index = slurm_use_find_node(&agent->known->nodes, name);
    struct slurm_contract next = *contract;
    next.epoch++;
    return index >= 0 && agent->uses[index].n_foreign == 0 &&
           !agent->uses[index].is_out &&
           slurm_use_find_reservation(arena, agent->known, agent->config.site, &next,
                                      agent->config.agent, name) != NULL;
}

static bool is_ordered(struct slurm_agent *agent, const struct slurm_contract *contract)
{
    const struct slurm_reservation_name name = {
        agent->config.site, contract->policy, contract->consumer, contract->epoch + 1};
    const char *hold =
        slurm_reservation_format_name(&agent->arenas[agent->reading], &name);
    for (int i = 0; i < agent->plan.n_orders; i++) {
        if (strcmp(agent->plan.orders[i].reservation, hold) == 0) {
            return true;
        }
    }
    return false;
}

/* Says which candidates of a contract are held, once no order can change it. */
static void report_held(struct slurm_agent *agent, int index)
{
    const struct slurm_contract *contract = &agent->contracts[index];
    const struct slurm_standing *standing = &agent->plan.standings[index];
    const char **held = arena_alloc(&agent->arenas[agent->reading],
                                    (size_t)contract->n_held + 1, sizeof(*held));
    int n_held = 0;
    bool waits = is_ordered(agent, contract);
    for (int i = 0; i < contract->n_held; i++) {
        if (standing->is_held[i]) {
            held[n_held++] = contract->held[i];
        } else {
            waits = waits || is_on_its_way(agent, contract, contract->held[i]);
        }
    }
    if (waits && n_held < contract->n_held) {
        agent->waits_for_hold = true;
    } else {
        agent->io.held(agent->io.arg, contract, held, n_held);
    }
}

static void report(struct slurm_agent *agent)
{
    for (int i = 0; i < agent->n_nodes; i++) {
        exec_session_report_load(&agent->nodes[i]->session);
    }
    agent->waits_for_hold = false;
    for (int i = 0; i < agent->n_contracts; i++) {
        if (agent->contracts[i].n_held > 0) {
            report_held(agent, i);
        }
        if (agent->plan.standings[i].is_behind) {
            slurm_agent_io_log(
                agent, LOG_LEVEL_ERROR,
                "Slurm has a reservation of policy %s for %s of a later "
                "epoch: the site's journal is older, and nothing of this "
                "contract is ordered",
                agent->contracts[i].policy, agent->contracts[i].consumer);
        }
    }
}

static int make_plan(struct slurm_agent *agent, struct err *err)
{
    struct arena *arena = &agent->arenas[agent->reading];
    const struct slurm_answers *answers = &agent->answers[agent->reading];
    const struct slurm_terms terms = {.site = agent->config.site,
                                      .agent = agent->config.agent,
                                      .term_s = agent->config.term_s,
                                      .now_s = agent->now_ms / 1000};
    int rc = slurm_plan_make(arena, &terms, agent->contracts, agent->n_contracts,
                             answers, &agent->plan, err);
    if (rc < 0) {
        return rc;
    }
    agent->known = answers;
    agent->uses =
        slurm_use_count(arena, &terms, answers, slurm_agent_state_is_job, agent);
    slurm_agent_state_find_intruders(agent, arena);
    agent->next_order = 0;
    agent->is_stale = false;
    report(agent);
    if (agent->n_contracts > 0) {
        agent->io.waiting(agent->io.arg,
                          slurm_job_count_waiting(arena, &answers->jobs,
                                                  agent->config.partition,
                                                  agent->config.site));
    }
    agent->reading = 1 - agent->reading;
    return 0;
}

/* ---------------------------------------------------------------- the cycle */

static void rest(struct slurm_agent *agent)
{
    int64_t wait_ms = agent->config.cycle_ms;
    int64_t longest_ms = agent->config.term_s * 1000 / 4;
    if (longest_ms > SLURM_AGENT_WAITS * wait_ms) {
        longest_ms = SLURM_AGENT_WAITS * wait_ms;
    }
    agent->next = AGENT_NOTHING;
    agent->n_failed = agent->has_failed ? agent->n_failed + 1 : 0;
    if (agent->has_failed) {
        wait_ms = resend_wait_ms(
            (struct resend_waits){wait_ms, longest_ms > wait_ms ? longest_ms : wait_ms},
            agent->n_failed);
    } else if (agent->waits_for_hold) {
        wait_ms = HOLD_AGAIN_MS;
    }
    wait_ms += rng_below(&agent->rng, wait_ms / 5 + 1) - wait_ms / 10;
    agent->cycle_ms =
        agent->is_stale && !agent->has_failed ? agent->now_ms : agent->now_ms + wait_ms;
}

static void fail(struct slurm_agent *agent, const struct err *err)
{
    if (!agent->has_failed && agent->n_failed == 0) {
        slurm_agent_io_log(agent, LOG_LEVEL_WARNING, "Slurm: %s", err->text);
    }
    agent->has_failed = true;
}

/* The plan is carried out, or is not worth more. */
static void end_orders(struct slurm_agent *agent)
{
    if (agent->is_stale ||
        (agent->has_changed && agent->n_rounds < SLURM_AGENT_ROUNDS)) {
        agent->n_rounds = agent->is_stale ? 0 : agent->n_rounds;
        agent->next = AGENT_NODES;
    } else {
        rest(agent);
    }
}

/* Of a cycle, or between two of them. */
static void begin_squeue(struct slurm_agent *agent, enum agent_doing doing,
                         struct arena *arena)
{
    agent->list_ms = INT64_MAX;
    agent->list_began_ms = agent->now_ms;
    agent->n_lists++;
    slurm_agent_io_begin(agent, doing, slurm_job_command(arena));
}

static void begin_next_step(struct slurm_agent *agent)
{
    struct arena *arena = &agent->arenas[agent->reading];
    switch (agent->next) {
    case AGENT_NODES:
        arena_clear(arena);
        agent->has_changed = false;
        agent->n_rounds++;
        slurm_agent_io_begin(agent, AGENT_NODES,
                             slurm_node_command(arena, agent->config.partition));
        break;
    case AGENT_JOBS:
        begin_squeue(agent, AGENT_JOBS, arena);
        break;
    case AGENT_RESERVATIONS:
        slurm_agent_io_begin(agent, AGENT_RESERVATIONS, slurm_reservation_command);
        break;
    case AGENT_PLAN_ORDER:
        if (agent->next_order < agent->plan.n_orders && !agent->is_stale) {
            slurm_agent_io_begin(agent, AGENT_PLAN_ORDER,
                                 agent->plan.orders[agent->next_order++].words);
        } else {
            end_orders(agent);
        }
        break;
    case AGENT_LIST:
    case AGENT_NOTHING:
    case AGENT_SUBMIT:
    case AGENT_RUN_ORDER:
    case AGENT_INTRUDER:
        break;
    }
}

static bool begin_intruder(struct slurm_agent *agent)
{
    if (agent->n_intruders == 0) {
        return false;
    }
    slurm_agent_io_begin(agent, AGENT_INTRUDER,
                         slurm_run_kill_command(
                             &agent->command, agent->intruders[--agent->n_intruders]));
    return true;
}

/* Begins the next command, if none runs and one is due. */
static void act(struct slurm_agent *agent)
{
    arena_clear(&agent->command);
    for (int i = 0; agent->doing == AGENT_NOTHING && i < SLURM_AGENT_ROUNDS; i++) {
        if (slurm_agent_run_act(agent) || begin_intruder(agent)) {
            return;
        }
        if (agent->next == AGENT_NOTHING && agent->now_ms >= agent->cycle_ms) {
            agent->n_rounds = 0;
            agent->has_failed = false;
            agent->next = AGENT_NODES;
        }
        if (agent->next != AGENT_NOTHING) {
            begin_next_step(agent);
        } else if (agent->now_ms >= agent->list_ms) {
            arena_clear(&agent->listing);
            begin_squeue(agent, AGENT_LIST, &agent->listing);
        } else {
            return;
        }
    }
}

/* ---------------------------------------------------------------- answers */

static int take_answer(struct slurm_agent *agent, enum agent_doing doing,
                       const char *text, struct err *err)
{
    struct arena *arena = &agent->arenas[agent->reading];
    struct slurm_answers *answers = &agent->answers[agent->reading];
    int rc;
    if (doing == AGENT_NODES) {
        rc = slurm_node_read(arena, text, &answers->nodes, err);
        agent->next = AGENT_JOBS;
        return rc < 0 ? err_prefix(err, "sinfo") : 0;
    }
    if (doing == AGENT_JOBS) {
        rc = slurm_job_read(arena, text, &answers->jobs, err);
        agent->next = AGENT_RESERVATIONS;
        if (rc == 0) {
            slurm_agent_state_listed(agent, &answers->jobs);
        }
        return rc < 0 ? err_prefix(err, "squeue") : 0;
    }
    rc = slurm_reservation_read(arena, text, &answers->reservations, err);
    if (rc < 0) {
        return err_prefix(err, "scontrol show reservation");
    }
    agent->next = AGENT_PLAN_ORDER;
    return make_plan(agent, err);
}

static void take_list(struct slurm_agent *agent, int rc, const char *text,
                      struct err *err)
{
    struct slurm_jobs jobs;
    rc = rc == 0 ? slurm_job_read(&agent->listing, text, &jobs, err) : rc;
    if (rc == 0) {
        slurm_agent_state_listed(agent, &jobs);
    } else {
        slurm_agent_io_log(agent, LOG_LEVEL_INFO, "Slurm: %s", err->text);
    }
}

void slurm_agent_done(struct slurm_agent *agent, int rc, const char *text,
                      const struct err *from, int64_t now_ms)
{
    enum agent_doing doing = agent->doing;
    struct err err = {0};
    if (rc < 0) {
        err = *from;
    }
    agent->now_ms = now_ms;
    agent->doing = AGENT_NOTHING;
    switch (doing) {
    case AGENT_NODES:
    case AGENT_JOBS:
    case AGENT_RESERVATIONS:
        rc = rc < 0 ? rc : take_answer(agent, doing, text, &err);
        if (rc < 0) {
            fail(agent, &err);
            rest(agent);
        }
        break;
    case AGENT_PLAN_ORDER:
        agent->has_changed = agent->has_changed || rc == 0;
        if (rc < 0) {
            slurm_agent_io_log(agent, LOG_LEVEL_INFO, "Slurm: %s", err.text);
        }
        break;
    case AGENT_LIST:
        take_list(agent, rc, text, &err);
        break;
    case AGENT_SUBMIT:
        slurm_agent_run_submitted(agent, rc, text, &err);
        break;
    case AGENT_RUN_ORDER:
        slurm_agent_run_ordered(agent, rc, &err);
        break;
    case AGENT_INTRUDER:
    case AGENT_NOTHING:
        break;
    }
    slurm_agent_tick(agent, now_ms);
}

/* ---------------------------------------------------------------- time */

static void drop_gone(struct slurm_agent *agent)
{
    int n_left = 0;
    for (int i = 0; i < agent->n_nodes; i++) {
        if (agent->nodes[i]->is_gone && agent->nodes[i]->session.runs == NULL) {
            free(agent->nodes[i]);
        } else {
            agent->nodes[n_left++] = agent->nodes[i];
        }
    }
    agent->n_nodes = n_left;
}

void slurm_agent_tick(struct slurm_agent *agent, int64_t now_ms)
{
    struct event event = {.kind = EVENT_TICK, .now_ms = now_ms};
    agent->now_ms = now_ms;
    drop_gone(agent);
    slurm_agent_state_tick(agent);
    for (int i = 0; i < agent->n_nodes; i++) {
        if (agent->nodes[i]->session.alive_ms <= now_ms ||
            exec_session_wake_ms(&agent->nodes[i]->session) <= now_ms) {
            step(agent, agent->nodes[i], &event);
        }
    }
    if (agent->doing == AGENT_NOTHING) {
        act(agent);
    }
}

int64_t slurm_agent_wake_ms(const struct slurm_agent *agent)
{
    int64_t wake_ms = slurm_agent_state_wake_ms(agent);
    for (int i = 0; i < agent->n_nodes; i++) {
        int64_t at_ms = exec_session_wake_ms(&agent->nodes[i]->session);
        wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    }
    if (agent->doing == AGENT_NOTHING) {
        wake_ms = agent->cycle_ms < wake_ms ? agent->cycle_ms : wake_ms;
        wake_ms = agent->list_ms < wake_ms ? agent->list_ms : wake_ms;
    }
    return wake_ms;
}
