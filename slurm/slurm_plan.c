/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_plan.c: see slurm_plan.h. */
#include "slurm/slurm_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

/* Linux takes words of up to 128 KiB. An end that is so much too late is an
 * administrator's, and not the time that a command took. */
enum { NODES_WORD_MAX = 120000, END_SLACK_S = 60, WORDS_MAX = 10 };

struct plan_node {
    const struct slurm_node *node;
    const struct plan_reservation *reservation; /* of ours; the first one */
    int n_reservations; /* in which it is, or soon will be; of whomever */
    int n_jobs;
    int contract; /* that wants it; -1: none */
    bool is_held; /* wanted for the reservation of the next epoch */
};

struct plan_reservation {
    const struct slurm_reservation *read;
    uint64_t epoch;
    int contract; /* -1: none has it */
    int n_jobs;
    bool *is_used; /* of its nodes: one of its jobs runs there */
};

struct planner {
    struct arena *arena;
    const struct slurm_terms *terms;
    const struct slurm_contract *contracts;
    int n_contracts;
    const struct slurm_answers *answers;
    struct plan_node *nodes; /* as in the answers */
    struct plan_reservation *reservations;
    int n_reservations;
    struct slurm_plan *plan;
};

/* ---------------------------------------------------------------- what there is */

static int compare_name(const void *name, const void *node)
{
    return strcmp(name, ((const struct slurm_node *)node)->name);
}

/* NULL: sinfo does not know it, or not in this partition. */
static struct plan_node *find_node(const struct planner *planner, const char *name)
{
    const struct slurm_nodes *nodes = &planner->answers->nodes;
    if (nodes->count == 0) {
        return NULL;
    }
    const struct slurm_node *found =
        bsearch(name, nodes->items, (size_t)nodes->count, sizeof(*found), compare_name);
    return found != NULL ? &planner->nodes[found - nodes->items] : NULL;
}

static int find_contract(const struct planner *planner, const char *policy,
                         const char *consumer)
{
    for (int i = 0; i < planner->n_contracts; i++) {
        if (strcmp(planner->contracts[i].policy, policy) == 0 &&
            strcmp(planner->contracts[i].consumer, consumer) == 0) {
            return i;
        }
    }
    return -1;
}

static struct plan_reservation *find_reservation(const struct planner *planner,
                                                 const char *name)
{
    for (int i = 0; i < planner->n_reservations; i++) {
        if (strcmp(planner->reservations[i].read->name, name) == 0) {
            return &planner->reservations[i];
        }
    }
    return NULL;
}

static void add_reservation(struct planner *planner,
                            const struct slurm_reservation *read)
{
    struct slurm_reservation_name name;
    if (!slurm_reservation_parse_name(planner->arena, read->name, &name) ||
        strcmp(name.site, planner->terms->site) != 0) {
        return;
    }
    struct plan_reservation *made = &planner->reservations[planner->n_reservations++];
    *made = (struct plan_reservation){
        .read = read,
        .epoch = name.epoch,
        .contract = find_contract(planner, name.policy, name.consumer),
        .is_used = arena_alloc(planner->arena, (size_t)read->n_nodes + 1, sizeof(bool)),
    };
    for (int i = 0; i < read->n_nodes; i++) {
        struct plan_node *node = find_node(planner, read->nodes[i]);
        if (node != NULL && node->reservation == NULL) {
            node->reservation = made;
        }
    }
}

static void add_job(struct planner *planner, const struct slurm_job *job)
{
    struct plan_reservation *reservation = find_reservation(planner, job->reservation);
    if (reservation != NULL) {
        reservation->n_jobs++;
    }
    for (int i = 0; i < job->n_nodes; i++) {
        struct plan_node *node = find_node(planner, job->nodes[i]);
        if (node != NULL) {
            node->n_jobs++;
        }
        for (int k = 0; reservation != NULL && k < reservation->read->n_nodes; k++) {
            if (strcmp(reservation->read->nodes[k], job->nodes[i]) == 0) {
                reservation->is_used[k] = true;
            }
        }
    }
}

static void read_answers(struct planner *planner)
{
    const struct slurm_answers *answers = planner->answers;
    int64_t soon_s = planner->terms->now_s + 2 * planner->terms->term_s;
    for (int i = 0; i < answers->nodes.count; i++) {
        planner->nodes[i].node = &answers->nodes.items[i];
        planner->nodes[i].contract = -1;
    }
    for (int i = 0; i < answers->reservations.count; i++) {
        const struct slurm_reservation *read = &answers->reservations.items[i];
        add_reservation(planner, read);
        for (int k = 0; k < read->n_nodes; k++) {
            struct plan_node *node = find_node(planner, read->nodes[k]);
            if (node != NULL && read->start_s < soon_s) {
                node->n_reservations++;
            }
        }
    }
    for (int i = 0; i < answers->jobs.count; i++) {
        if (slurm_job_has_nodes(&answers->jobs.items[i])) {
            add_job(planner, &answers->jobs.items[i]);
        }
    }
}

/* ---------------------------------------------------------------- what is wanted */

static int want(struct planner *planner, int contract, const char *name, bool is_held,
                struct err *err)
{
    struct plan_node *node = find_node(planner, name);
    if (node == NULL) {
        return 0; /* it has left the cluster, or is not known to slurmctld now */
    }
    if (node->contract != -1) {
        return err_set(err, ERR_EXISTS,
                       "node \"%s\" is lent to \"%s\" by policy \"%s\", and also to "
                       "\"%s\" by policy \"%s\"",
                       name, planner->contracts[node->contract].consumer,
                       planner->contracts[node->contract].policy,
                       planner->contracts[contract].consumer,
                       planner->contracts[contract].policy);
    }
    node->contract = contract;
    node->is_held = is_held;
    return 0;
}

static int read_contracts(struct planner *planner, struct err *err)
{
    for (int i = 0; i < planner->n_contracts; i++) {
        const struct slurm_contract *contract = &planner->contracts[i];
        int rc = 0;
        if (find_contract(planner, contract->policy, contract->consumer) != i) {
            return err_set(err, ERR_EXISTS,
                           "the contract of policy \"%s\" with \"%s\" is there twice",
                           contract->policy, contract->consumer);
        }
        for (int k = 0; k < contract->n_nodes && rc == 0; k++) {
            rc = want(planner, i, contract->nodes[k], false, err);
        }
        for (int k = 0; k < contract->n_held && rc == 0; k++) {
            rc = want(planner, i, contract->held[k], true, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* The reservation of the next epoch: of nodes that are held. */
static bool is_hold(const struct planner *planner,
                    const struct plan_reservation *reservation)
{
    return reservation->contract != -1 &&
           reservation->epoch == planner->contracts[reservation->contract].epoch + 1;
}

static void find_behind(struct planner *planner)
{
    for (int i = 0; i < planner->n_reservations; i++) {
        const struct plan_reservation *reservation = &planner->reservations[i];
        if (reservation->contract == -1) {
            continue;
        }
        uint64_t epoch = planner->contracts[reservation->contract].epoch;
        if (reservation->epoch > epoch + 1 ||
            (is_hold(planner, reservation) && reservation->n_jobs > 0)) {
            planner->plan->standings[reservation->contract].is_behind = true;
        }
    }
}

static bool is_behind(const struct planner *planner, int contract)
{
    return contract != -1 && planner->plan->standings[contract].is_behind;
}

/* Whether the reservation is to keep its node at that index. */
static bool keeps_node(const struct planner *planner,
                       const struct plan_reservation *reservation, int index)
{
    const struct plan_node *node = find_node(planner, reservation->read->nodes[index]);
    if (reservation->is_used[index]) {
        return true;
    }
    return node != NULL && node->reservation == reservation &&
           reservation->contract != -1 && node->contract == reservation->contract &&
           node->is_held == is_hold(planner, reservation);
}

/* It is free to be put into a reservation. */
static bool is_free(struct planner *planner, const struct plan_node *node)
{
    return node->n_reservations == 0 && node->n_jobs == 0 &&
           slurm_node_obstacle(planner->arena, node->node) == NULL;
}

/* ---------------------------------------------------------------- orders */

static bool includes(const char *users, const char *others)
{
    for (;;) {
        size_t next = strcspn(others, ",");
        if (!slurm_reservation_has_word(users, others, next)) {
            return false;
        }
        if (others[next] == '\0') {
            return true;
        }
        others += next + 1;
    }
}

static bool is_same_users(const char *left, const char *right)
{
    return includes(left, right) && includes(right, left);
}

static const char *wanted_users(const struct planner *planner,
                                const struct plan_reservation *reservation)
{
    return is_hold(planner, reservation)
               ? planner->terms->agent
               : planner->contracts[reservation->contract].users;
}

/* The places behind the name are free, but for the NULL at the end. */
static const char **begin_order(struct planner *planner, const char *verb,
                                const char *name)
{
    const char **words = arena_alloc(planner->arena, WORDS_MAX, sizeof(*words));
    words[0] = "scontrol";
    words[1] = verb;
    words[2] = "reservation";
    words[3] = arena_printf(planner->arena, "ReservationName=%s", name);
    planner->plan->orders[planner->plan->n_orders++] =
        (struct slurm_order){.reservation = name, .words = words};
    return words;
}

static const char *end_word(struct planner *planner)
{
    return arena_printf(planner->arena, "EndTime=now+%lld",
                        (long long)planner->terms->term_s);
}

/* "Nodes=" and the names. */
static int nodes_word(struct planner *planner, const char *const *names, int n_names,
                      const char **word, struct err *err)
{
    size_t length = sizeof("Nodes=");
    for (int i = 0; i < n_names; i++) {
        length += strlen(names[i]) + 1;
    }
    if (length > NODES_WORD_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "the names of %d nodes of one reservation take %zu bytes, of "
                       "which a command can have %d: export them by several policies",
                       n_names, length, NODES_WORD_MAX);
    }
    char *text = arena_alloc(planner->arena, length, 1);
    size_t at = (size_t)snprintf(text, length, "Nodes=");
    for (int i = 0; i < n_names; i++) {
        at += (size_t)snprintf(text + at, length - at, "%s%s", i > 0 ? "," : "",
                               names[i]);
    }
    *word = text;
    return 0;
}

static bool is_end_due(const struct planner *planner,
                       const struct slurm_reservation *read)
{
    int64_t left_s = read->end_s - planner->terms->now_s;
    return left_s * 3 <= planner->terms->term_s * 2 ||
           left_s > planner->terms->term_s + END_SLACK_S;
}

/* A reservation that has nothing to keep, or no contract. While its jobs run it cannot
 * be deleted, and is not renewed; an end that is too late is shortened. */
static void order_end(struct planner *planner,
                      const struct plan_reservation *reservation)
{
    const struct slurm_reservation *read = reservation->read;
    if (reservation->n_jobs == 0) {
        const char **words = begin_order(planner, "delete", read->name);
        words[2] = words[3]; /* this one has no word "reservation" */
        words[3] = NULL;
    } else if (read->end_s - planner->terms->now_s >
               planner->terms->term_s + END_SLACK_S) {
        begin_order(planner, "update", read->name)[4] = end_word(planner);
    }
}

/* Takes nodes out, and puts the rest right. */
static int order_update(struct planner *planner,
                        const struct plan_reservation *reservation,
                        const char *const *kept, int n_kept, struct err *err)
{
    const struct slurm_reservation *read = reservation->read;
    const struct slurm_contract *contract = &planner->contracts[reservation->contract];
    const char *users = wanted_users(planner, reservation);
    const char *words[4];
    int n_words = 0, rc = 0;
    if (n_kept < read->n_nodes) {
        rc = nodes_word(planner, kept, n_kept, &words[n_words++], err);
    }
    if (!is_same_users(read->users, users)) {
        words[n_words++] = arena_printf(planner->arena, "Users=%s", users);
    }
    if (read->is_flex != contract->keeps_jobs) {
        words[n_words++] = contract->keeps_jobs ? "Flags+=FLEX" : "Flags-=FLEX";
    }
    if (is_end_due(planner, read)) {
        words[n_words++] = end_word(planner);
    }
    if (rc == 0 && n_words > 0) {
        memcpy(begin_order(planner, "update", read->name) + 4, words,
               (size_t)n_words * sizeof(*words));
    }
    return rc;
}

static int order_create(struct planner *planner, const char *name, int contract,
                        bool is_hold, const char *const *nodes, int n_nodes,
                        struct err *err)
{
    const struct slurm_contract *terms = &planner->contracts[contract];
    const char *word;
    int rc = nodes_word(planner, nodes, n_nodes, &word, err);
    if (rc < 0) {
        return rc;
    }
    const char **words = begin_order(planner, "create", name);
    words[4] = "StartTime=now";
    words[5] = end_word(planner);
    words[6] = word;
    words[7] = arena_printf(planner->arena, "Users=%s",
                            is_hold ? planner->terms->agent : terms->users);
    words[8] = terms->keeps_jobs ? "Flags=FLEX" : NULL;
    return 0;
}

/* ---------------------------------------------------------------- reservations */

/* Puts free nodes into the reservation of the contract's epoch, or of the next one;
 * `kept` are those that it has. */
static int order_nodes(struct planner *planner, int contract, bool is_hold,
                       struct err *err)
{
    const struct slurm_contract *terms = &planner->contracts[contract];
    const char *const *wanted = is_hold ? terms->held : terms->nodes;
    int n_wanted = is_hold ? terms->n_held : terms->n_nodes;
    const char *name = slurm_reservation_format_name(
        planner->arena, &(struct slurm_reservation_name){
                            planner->terms->site, terms->policy, terms->consumer,
                            terms->epoch + (is_hold ? 1 : 0)});
    const struct plan_reservation *old = find_reservation(planner, name);
    int n_old = old != NULL ? old->read->n_nodes : 0, count = 0, n_added = 0;
    const char **names = arena_alloc(
        planner->arena, (size_t)n_old + (size_t)n_wanted + 1, sizeof(*names));
    for (int i = 0; i < n_old; i++) {
        if (keeps_node(planner, old, i)) {
            names[count++] = old->read->nodes[i];
        }
    }
    bool is_ending = old != NULL && count == 0 && old->n_jobs == 0;
    for (int i = 0; i < n_wanted; i++) {
        const struct plan_node *node = find_node(planner, wanted[i]);
        if (node != NULL && is_free(planner, node)) {
            names[count++] = wanted[i];
            n_added++;
        }
    }
    if (n_added == 0 || is_ending) {
        return 0; /* one that ends is gone when the next plan is made */
    }
    if (old == NULL) {
        return order_create(planner, name, contract, is_hold, names, count, err);
    }
    const char *word;
    int rc = nodes_word(planner, names, count, &word, err);
    if (rc == 0) {
        begin_order(planner, "update", name)[4] = word;
    }
    return rc;
}

static int plan_reservation(struct planner *planner,
                            const struct plan_reservation *reservation, struct err *err)
{
    const struct slurm_reservation *read = reservation->read;
    const char **kept =
        arena_alloc(planner->arena, (size_t)read->n_nodes + 1, sizeof(*kept));
    int n_kept = 0;
    for (int i = 0; i < read->n_nodes; i++) {
        if (keeps_node(planner, reservation, i)) {
            kept[n_kept++] = read->nodes[i];
        }
    }
    if (is_behind(planner, reservation->contract)) {
        return 0;
    }
    if (n_kept == 0 || reservation->contract == -1) {
        order_end(planner, reservation);
        return 0;
    }
    return order_update(planner, reservation, kept, n_kept, err);
}

/* ---------------------------------------------------------------- standing */

/* The node is in one reservation only, which is the contract's and can be used. */
static bool is_reserved(const struct planner *planner, const struct plan_node *node,
                        bool is_held)
{
    const struct plan_reservation *reservation = node->reservation;
    return node->n_reservations == 1 && reservation != NULL &&
           reservation->contract != -1 && reservation->contract == node->contract &&
           is_hold(planner, reservation) == is_held && reservation->read->is_active &&
           reservation->read->end_s > planner->terms->now_s &&
           is_same_users(reservation->read->users, wanted_users(planner, reservation));
}

/* "idle" and reserved. Slurm may have planned a job for the node, as "planned" says: it
 * cannot start there while the reservation lasts. */
static bool is_idle_reserved(const char *state)
{
    return strcmp(state, "idle+reserved") == 0 ||
           strcmp(state, "idle+reserved+planned") == 0 ||
           strcmp(state, "idle+planned+reserved") == 0;
}

static void judge(struct planner *planner, int contract)
{
    const struct slurm_contract *terms = &planner->contracts[contract];
    struct slurm_standing *standing = &planner->plan->standings[contract];
    if (standing->is_behind) {
        return;
    }
    for (int i = 0; i < terms->n_nodes; i++) {
        const struct plan_node *node = find_node(planner, terms->nodes[i]);
        standing->has_node[i] = node != NULL && is_reserved(planner, node, false);
    }
    for (int i = 0; i < terms->n_held; i++) {
        const struct plan_node *node = find_node(planner, terms->held[i]);
        standing->is_held[i] = node != NULL && is_reserved(planner, node, true) &&
                               node->n_jobs == 0 && node->node->used_cpus == 0 &&
                               is_idle_reserved(node->node->state);
    }
}

static void prepare(struct planner *planner)
{
    struct arena *arena = planner->arena;
    size_t n_reservations = (size_t)planner->answers->reservations.count;
    size_t n_contracts = (size_t)planner->n_contracts;
    struct slurm_plan *plan = planner->plan;
    planner->nodes = arena_alloc(arena, (size_t)planner->answers->nodes.count + 1,
                                 sizeof(*planner->nodes));
    planner->reservations =
        arena_alloc(arena, n_reservations + 1, sizeof(*planner->reservations));
    /* One for each reservation, and for what each contract wants besides. */
    plan->orders =
        arena_alloc(arena, n_reservations + 2 * n_contracts + 1, sizeof(*plan->orders));
    plan->standings = arena_alloc(arena, n_contracts + 1, sizeof(*plan->standings));
    for (int i = 0; i < planner->n_contracts; i++) {
        const struct slurm_contract *contract = &planner->contracts[i];
        plan->standings[i] = (struct slurm_standing){
            .has_node = arena_alloc(arena, (size_t)contract->n_nodes + 1, sizeof(bool)),
            .is_held = arena_alloc(arena, (size_t)contract->n_held + 1, sizeof(bool)),
        };
    }
}

int slurm_plan_make(struct arena *arena, const struct slurm_terms *terms,
                    const struct slurm_contract *contracts, int n_contracts,
                    const struct slurm_answers *answers, struct slurm_plan *plan,
                    struct err *err)
{
    struct slurm_plan made = {.n_orders = 0};
    struct planner planner = {.arena = arena,
                              .terms = terms,
                              .contracts = contracts,
                              .n_contracts = n_contracts,
                              .answers = answers,
                              .plan = &made};
    prepare(&planner);
    read_answers(&planner);
    int rc = read_contracts(&planner, err);
    if (rc == 0) {
        find_behind(&planner);
    }
    for (int i = 0; i < planner.n_reservations && rc == 0; i++) {
        rc = plan_reservation(&planner, &planner.reservations[i], err);
    }
    for (int i = 0; i < n_contracts && rc == 0; i++) {
        if (!made.standings[i].is_behind) {
            judge(&planner, i);
            rc = order_nodes(&planner, i, false, err);
            rc = rc == 0 ? order_nodes(&planner, i, true, err) : rc;
        }
    }
    if (rc == 0) {
        *plan = made;
    }
    return rc;
}
