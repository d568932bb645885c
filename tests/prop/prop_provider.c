/* SPDX-License-Identifier: Apache-2.0 */
/* prop_provider.c: a provider under random freezes, proposals, starts, ends, local
 * jobs, reloads, shrinking hosts, crashes and repeated old messages, against its
 * guarantees.
 *
 * After every step:
 *   - an epoch only grows, and never has two contents; the disk has every STATE that
 * was sent;
 *   - per host of a lease provider + consumer = exported, used <= held on each side,
 * and the consumer's use is what runs;
 *   - all parts of a policy that exports to a pool have what it exports, no more, but
 * for slots in use;
 *   - nothing starts on a frozen lease, on an old epoch, or on one that is withdrawn;
 *   - what STATE says the provider uses does not grow while the lease is frozen;
 *   - what runs on a host exceeds its size only where it did before, and does not grow
 *     then; and what consumers hold plus what local jobs may have is within the same.
 *
 * A failure prints the seed; run with it as the argument to see only that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/unit/provider/provider_world.h"

enum {
    SEEDS = 400,
    STEPS = 250,
    HOSTS = 3,
    LEASES_MAX_SEEN = 64,
    RUNS_MAX = 400,
    OLD_MAX = 40,
    LEASE_HOSTS = 8,
};

static uint64_t only_seed;

struct model_host {
    const char *name;
    int configured, max, local_used;
    int n_running; /* after the last step */
    const struct ledger_host
        *kept; /* since the provider's start; NULL: not requested yet */
};

struct model_run {
    char site[16];
    uint64_t attempt;
    char lease[64];
    int slots[HOSTS];
    bool is_ended, is_gone;
};

/* A lease as it was after the last step. */
struct seen {
    char lease[64];
    uint64_t epoch;
    bool is_frozen;
    uint64_t freeze;
    int n_hosts;
    struct host_split hosts[LEASE_HOSTS];
    char names[LEASE_HOSTS][8];
};

struct old_message {
    int kind; /* enum msg_kind */
    char lease[64];
    uint64_t base, number;
    char text[128];
    char site[16];
};

struct trial {
    struct provider_world world;
    struct rng rng;
    uint64_t seed;
    int step;
    struct model_host hosts[HOSTS];
    struct model_run runs[RUNS_MAX];
    int n_runs;
    uint64_t attempt, freeze;
    struct seen seen[LEASES_MAX_SEEN];
    int n_seen;
    struct old_message old[OLD_MAX];
    int n_old;
    bool may_start; /* at a START of the step: not frozen, current epoch */
};

#define CHECK(trial, condition)                                                        \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fail_msg("seed %llu, step %d: %s", (unsigned long long)(trial)->seed,      \
                     (trial)->step, #condition);                                       \
        }                                                                              \
    } while (0)

static int below(struct trial *trial, int bound)
{
    return (int)rng_below(&trial->rng, bound);
}

/* ------------------------------------------------------------ policies */

/* Each fits the configured sizes (4, 4, 6), alone and with those after it. */
static const char *const plans[] = {
    "a south shared n1=4;b south shared n2=2 n3=3;c east exclusive n2=2",
    "a south shared n1=2 n3=2;b east exclusive n2=3",
    "a south exclusive n1=4;c east exclusive n2=4 n3=2",
    "1 south shared n1=4 n2=4 n3=6",
    "1 south shared n1=4 n2=4 n3=6;2 south shared n1=0",
    "1 east exclusive n1=1 n2=1;2 south exclusive n1=3",
    "a south shared n1=3 n2=1;d south shared n1=1 n2=2;1 east shared n3=6",
    "",
    "p pool:x pool n1=4 n2=3 n3=6",
    "p pool:x pool n1=2 n3=4;a south shared n1=2 n2=2",
    "p pool:x pool n2=4;q pool:x pool n1=3",
};

/* Leaves of plans, one of them this site's own. */
static const char *const leaves[] = {"north/p/south:/eng", "north/p/south:/eng/sim",
                                     "north/p/east:/ops", "north/p/north:/own",
                                     "north/q/east:/ops"};

static bool is_pool(const char *lease)
{
    return strchr(lease, ':') != NULL;
}

static bool is_leaf(const char *lease)
{
    return strstr(lease, ":/") != NULL;
}

static bool is_own_leaf(const char *lease)
{
    return strstr(lease, "/north:/") != NULL;
}

static void reload(struct trial *trial)
{
    int which = below(trial, (int)(sizeof(plans) / sizeof(plans[0])));
    which = which == 4 ? 3 : which; /* a host without slots is no policy */
    provider_world_export(&trial->world, plans[which]);
}

static void tell_hosts(struct trial *trial)
{
    for (int i = 0; i < HOSTS; i++) {
        trial->hosts[i].kept = NULL; /* the provider is a new one */
        struct model_host *host = &trial->hosts[i];
        provider_set_local_used(trial->world.provider, host->name, host->max,
                                host->local_used);
    }
}

/* ------------------------------------------------------------ picking */

static bool pick_lease(struct trial *trial, struct msg_state *state)
{
    struct provider *provider = trial->world.provider;
    int n_books = provider_count_leases(provider);
    if (n_books == 0) {
        return false;
    }
    const char *lease = provider_lease_id(provider, below(trial, n_books));
    return provider_find_lease(provider, lease, state);
}

static uint64_t some_epoch(struct trial *trial, uint64_t epoch)
{
    return rng_percent(&trial->rng, 85) ? epoch : epoch + (uint64_t)below(trial, 3) - 1;
}

static struct old_message *remember(struct trial *trial, int kind, const char *lease,
                                    uint64_t base)
{
    int at = trial->n_old < OLD_MAX ? trial->n_old++ : below(trial, OLD_MAX);
    struct old_message *old = &trial->old[at];
    memset(old, 0, sizeof(*old));
    old->kind = kind;
    old->base = base;
    snprintf(old->lease, sizeof(old->lease), "%s", lease);
    return old;
}

/* ------------------------------------------------------------ steps */

static void do_start(struct trial *trial, const struct old_message *message);

static void say(struct trial *trial, const struct old_message *message)
{
    struct old_message copy = *message;
    if (copy.kind == MSG_FREEZE) {
        provider_world_freeze(&trial->world, copy.lease, copy.base, copy.number);
    } else if (copy.kind == MSG_RECALL) {
        provider_world_recall(&trial->world, copy.lease, copy.number,
                              (int)copy.base - 1, WORLD_FREEZE_MS);
    } else if (copy.kind == MSG_PROPOSE) {
        provider_world_propose(&trial->world, copy.lease, copy.base, copy.text);
    } else {
        do_start(trial, &copy);
    }
}

static void step_freeze(struct trial *trial)
{
    struct msg_state state;
    if (pick_lease(trial, &state)) {
        trial->freeze += (uint64_t)below(trial, 2);
        struct old_message *old =
            remember(trial, MSG_FREEZE, state.lease, some_epoch(trial, state.epoch));
        old->number = trial->freeze;
        say(trial, old);
    }
}

/* For a leaf: its used slots and some more on every host, idle or not. */
static void propose_leaf(struct trial *trial, const struct msg_state *state)
{
    char text[128] = "";
    for (int i = 0; i < HOSTS; i++) {
        int held = 0;
        for (int j = 0; j < state->n_hosts; j++) {
            bool is_here = strcmp(state->hosts[j].host, trial->hosts[i].name) == 0;
            held = is_here ? state->hosts[j].n_slots : held;
        }
        int n_slots = held + below(trial, 3);
        n_slots = rng_percent(&trial->rng, 10) ? below(trial, 5) : n_slots;
        size_t length = strlen(text);
        if (n_slots > 0) {
            snprintf(text + length, sizeof(text) - length, "%s %d:%d ",
                     trial->hosts[i].name, is_own_leaf(state->lease) ? n_slots : 0,
                     is_own_leaf(state->lease) ? 0 : n_slots);
        }
    }
    struct old_message *old =
        remember(trial, MSG_PROPOSE, state->lease, some_epoch(trial, state->epoch));
    snprintf(old->text, sizeof(old->text), "%s", text);
    say(trial, old);
}

static void step_open(struct trial *trial)
{
    int which = below(trial, (int)(sizeof(leaves) / sizeof(leaves[0])));
    provider_world_open(&trial->world, leaves[which]);
}

static void step_recall(struct trial *trial)
{
    struct msg_state state;
    if (pick_lease(trial, &state) && is_leaf(state.lease)) {
        struct old_message *old = remember(trial, MSG_RECALL, state.lease, 0);
        old->number = state.recall + (uint64_t)below(trial, 3);
        old->base = (uint64_t)below(trial, 7);
        say(trial, old);
    }
}

/* Usually a split that a broker would propose: used slots stay, the others are
 * distributed at random. */
static void step_propose(struct trial *trial)
{
    struct msg_state state;
    if (!pick_lease(trial, &state)) {
        return;
    }
    char text[128] = "";
    if (is_leaf(state.lease)) {
        propose_leaf(trial, &state);
        return;
    }
    for (int i = 0; i < state.n_hosts; i++) {
        const struct host_split *host = &state.hosts[i];
        int idle = host->n_slots - host->provider_used - host->consumer_used;
        int moved = below(trial, idle > 0 ? idle + 1 : 1);
        int provider = host->provider_used + moved;
        if (rng_percent(&trial->rng, 10)) {
            provider = below(trial, host->n_slots + 2);
        }
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s %d:%d ", host->host,
                 provider, host->n_slots - provider);
    }
    struct old_message *old =
        remember(trial, MSG_PROPOSE, state.lease, some_epoch(trial, state.epoch));
    snprintf(old->text, sizeof(old->text), "%s", text);
    say(trial, old);
}

static void record_run(struct trial *trial, const struct old_message *message)
{
    CHECK(trial, trial->n_runs < RUNS_MAX);
    struct model_run *run = &trial->runs[trial->n_runs++];
    memset(run, 0, sizeof(*run));
    run->attempt = message->number;
    snprintf(run->site, sizeof(run->site), "%s", message->site);
    snprintf(run->lease, sizeof(run->lease), "%s", message->lease);
    for (int i = 0; i < HOSTS; i++) {
        const char *found = strstr(message->text, trial->hosts[i].name);
        run->slots[i] = found != NULL ? (int)strtol(found + 3, NULL, 10) : 0;
    }
}

static bool was_taken(const struct trial *trial, const struct old_message *message)
{
    for (int i = 0; i < trial->n_runs; i++) {
        if (trial->runs[i].attempt == message->number &&
            strcmp(trial->runs[i].site, message->site) == 0) {
            return true;
        }
    }
    return false;
}

static void do_start(struct trial *trial, const struct old_message *message)
{
    bool is_known = was_taken(trial, message);
    provider_world_tick(&trial->world,
                        0); /* what settling changes, before the checks */
    struct msg_state state = {0};
    bool has_book = provider_find_lease(trial->world.provider, message->lease, &state);
    bool may_start = has_book && !state.is_frozen && !state.is_withdrawn &&
                     state.epoch == message->base &&
                     strstr(message->lease, message->site);
    enum provider_verdict verdict =
        provider_world_start(&trial->world, message->site, message->number,
                             message->lease, message->base, message->text);
    if (verdict == PROVIDER_ADMITTED) {
        CHECK(trial, may_start);
        CHECK(trial, !is_known);
        record_run(trial, message);
    }
    CHECK(trial, verdict != PROVIDER_KNOWN || is_known);
}

static void step_start(struct trial *trial)
{
    struct msg_state state;
    if (!pick_lease(trial, &state) || state.n_hosts == 0 ||
        (is_pool(state.lease) && (!is_leaf(state.lease) || is_own_leaf(state.lease)))) {
        return;
    }
    const struct host_split *host = &state.hosts[below(trial, state.n_hosts)];
    struct old_message *old =
        remember(trial, MSG_START, state.lease, some_epoch(trial, state.epoch));
    old->number = ++trial->attempt;
    snprintf(old->text, sizeof(old->text), "%s=%d", host->host, 1 + below(trial, 2));
    size_t length;
    const char *consumer = msg_lease_consumer(old->lease, &length);
    if (rng_percent(&trial->rng, 5)) {
        consumer = "east";
        length = strlen(consumer);
    }
    snprintf(old->site, sizeof(old->site), "%.*s", (int)length, consumer);
    say(trial, old);
}

static void step_end(struct trial *trial)
{
    if (trial->n_runs == 0) {
        return;
    }
    struct model_run *run = &trial->runs[below(trial, trial->n_runs)];
    if (!run->is_ended) {
        run->is_ended = true;
        provider_world_end(&trial->world, run->site, run->attempt);
    } else if (!run->is_gone) {
        run->is_gone = true;
        provider_world_forget(&trial->world, run->site, run->attempt);
    }
}

static int count_frozen(const struct trial *trial)
{
    int n_frozen = 0;
    for (int i = 0; i < provider_count_leases(trial->world.provider); i++) {
        struct msg_state state;
        const char *lease = provider_lease_id(trial->world.provider, i);
        provider_find_lease(trial->world.provider, lease, &state);
        n_frozen += state.is_frozen;
    }
    return n_frozen;
}

/* As many local jobs as possible start, or some end; neither needs a freeze. */
static void step_local(struct trial *trial)
{
    int n_frozen = count_frozen(trial);
    struct model_host *host = &trial->hosts[below(trial, HOSTS)];
    struct provider *provider = trial->world.provider;
    int most = provider_host_local_max(provider_host(provider, host->name), host->max,
                                       host->local_used);
    CHECK(trial, most >= host->local_used);
    if (rng_percent(&trial->rng, 60)) {
        host->local_used += below(trial, most - host->local_used + 1);
    } else {
        host->local_used = below(trial, host->local_used + 1);
    }
    provider_set_local_used(provider, host->name, host->max, host->local_used);
    CHECK(trial, count_frozen(trial) == n_frozen);
    provider_world_tick(&trial->world, 0);
}

static void step_resize(struct trial *trial)
{
    struct model_host *host = &trial->hosts[below(trial, HOSTS)];
    host->max = rng_percent(&trial->rng, 60) ? host->configured
                                             : below(trial, host->configured + 1);
    tell_hosts(trial);
    provider_world_tick(&trial->world, 0);
}

static void step_crash(struct trial *trial)
{
    provider_world_load(&trial->world);
    for (int i = 0; i < trial->n_seen; i++) {
        trial->seen[i].is_frozen = false;
    }
    tell_hosts(trial);
    effects_clear(&trial->world.effects);
    if (rng_percent(&trial->rng, 30)) {
        reload(trial);
    } else {
        provider_world_restart(&trial->world); /* again, to load twice */
        tell_hosts(trial);
    }
    provider_world_tick(&trial->world, 0);
    provider_world_session(&trial->world, (uint64_t)trial->step + 1);
}

static void step(struct trial *trial)
{
    int dice = below(trial, 100);
    if (dice < 14) {
        step_freeze(trial);
    } else if (dice < 32) {
        step_propose(trial);
    } else if (dice < 54) {
        step_start(trial);
    } else if (dice < 68) {
        step_end(trial);
    } else if (dice < 80) {
        step_local(trial);
    } else if (dice < 84) {
        reload(trial);
    } else if (dice < 87) {
        step_resize(trial);
    } else if (dice < 89) {
        step_crash(trial);
    } else if (dice < 91) {
        step_open(trial);
    } else if (dice < 93) {
        step_recall(trial);
    } else if (dice < 96 && trial->n_old > 0) {
        say(trial, &trial->old[below(trial, trial->n_old)]);
    } else {
        provider_world_tick(&trial->world, below(trial, WORLD_FREEZE_MS));
    }
}

/* ------------------------------------------------------------ promises */

static int greatest(int a, int b)
{
    return a > b ? a : b;
}

static struct seen *find_seen(struct trial *trial, const char *lease)
{
    for (int i = 0; i < trial->n_seen; i++) {
        if (strcmp(trial->seen[i].lease, lease) == 0) {
            return &trial->seen[i];
        }
    }
    CHECK(trial, trial->n_seen < LEASES_MAX_SEEN);
    struct seen *seen = &trial->seen[trial->n_seen++];
    memset(seen, 0, sizeof(*seen));
    snprintf(seen->lease, sizeof(seen->lease), "%s", lease);
    return seen;
}

static int running_of(const struct trial *trial, const char *lease, int host)
{
    int n_slots = 0;
    for (int i = 0; i < trial->n_runs; i++) {
        const struct model_run *run = &trial->runs[i];
        bool counts = lease == NULL || strcmp(run->lease, lease) == 0;
        n_slots += counts && !run->is_ended ? run->slots[host] : 0;
    }
    return n_slots;
}

static int index_of(const struct trial *trial, const char *name)
{
    int i = 0;
    while (strcmp(trial->hosts[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void check_hosts_of_lease(struct trial *trial, const struct msg_state *state,
                                 const struct seen *seen)
{
    bool is_same_epoch = seen->epoch == state->epoch;
    bool is_same_freeze = is_same_epoch && state->is_frozen && seen->is_frozen &&
                          state->freeze == seen->freeze;
    CHECK(trial, !is_same_epoch || seen->n_hosts == state->n_hosts);
    for (int i = 0; i < state->n_hosts; i++) {
        const struct host_split *now = &state->hosts[i];
        const struct host_split *before = &seen->hosts[i];
        CHECK(trial, now->provider >= 0 && now->consumer >= 0);
        CHECK(trial, now->provider + now->consumer == now->n_slots);
        CHECK(trial, now->provider_used >= 0 && now->provider_used <= now->provider);
        CHECK(trial, now->consumer_used <= now->consumer);
        CHECK(trial, now->consumer_used ==
                         running_of(trial, state->lease, index_of(trial, now->host)));
        if (is_same_epoch) {
            CHECK(trial, strcmp(now->host, seen->names[i]) == 0);
            CHECK(trial, now->n_slots == before->n_slots);
            CHECK(trial, now->consumer == before->consumer);
        }
        CHECK(trial, !is_same_freeze || now->provider_used <= before->provider_used);
        CHECK(trial, !is_same_freeze || now->consumer_used <= before->consumer_used);
    }
}

static void check_disk(struct trial *trial, const struct msg_state *state)
{
    const struct row_book *book = NULL;
    for (int i = 0; i < trial->world.n_rows; i++) {
        const struct row *row = &trial->world.rows[i];
        if (row->kind == ROW_BOOK && strcmp(row->book.lease, state->lease) == 0) {
            book = &row->book;
        }
    }
    CHECK(trial, book != NULL);
    CHECK(trial, book->epoch == state->epoch);
    CHECK(trial, book->is_made == state->is_made);
    CHECK(trial, book->is_withdrawn == state->is_withdrawn);
    CHECK(trial, book->is_ended == state->is_ended);
    CHECK(trial, book->n_hosts == state->n_hosts);
    for (int i = 0; i < state->n_hosts; i++) {
        CHECK(trial, strcmp(book->hosts[i].host, state->hosts[i].host) == 0);
        CHECK(trial, book->hosts[i].n_slots == state->hosts[i].n_slots);
        CHECK(trial, book->hosts[i].provider == state->hosts[i].provider);
        CHECK(trial, book->hosts[i].consumer == state->hosts[i].consumer);
    }
}

static void check_lease(struct trial *trial, const struct msg_state *state)
{
    struct seen *seen = find_seen(trial, state->lease);
    if (state->n_recalls > 0) {
        int n_held = 0, n_used = 0;
        for (int i = 0; i < state->n_hosts; i++) {
            n_held += state->hosts[i].n_slots;
            n_used += state->hosts[i].provider_used + state->hosts[i].consumer_used;
        }
        CHECK(trial,
              n_held <= greatest(n_used, state->recalls[state->n_recalls - 1].n_held));
    }
    CHECK(trial, state->epoch >= seen->epoch);
    check_hosts_of_lease(trial, state, seen);
    check_disk(trial, state);
    seen->epoch = state->epoch;
    seen->is_frozen = state->is_frozen;
    seen->freeze = state->freeze;
    seen->n_hosts = state->n_hosts;
    CHECK(trial, state->n_hosts <= LEASE_HOSTS);
    for (int i = 0; i < state->n_hosts; i++) {
        seen->hosts[i] = state->hosts[i];
        snprintf(seen->names[i], sizeof(seen->names[i]), "%s", state->hosts[i].host);
    }
}

static void check_host(struct trial *trial, int index)
{
    struct model_host *host = &trial->hosts[index];
    const struct provider *provider = trial->world.provider;
    int n_running = running_of(trial, NULL, index) + host->local_used;
    CHECK(trial, n_running <= greatest(host->max, host->n_running));
    host->n_running = n_running;
    if (host->kept == NULL) {
        host->kept = provider_host(trial->world.provider, host->name);
    }
    CHECK(trial, provider_host(trial->world.provider, host->name) == host->kept);
    int most = provider_host_local_max(host->kept, host->max, host->local_used);
    int lent = provider_lent(provider, host->name);
    CHECK(trial, provider_host_lent(host->kept) == lent);
    CHECK(trial, most + lent <= greatest(host->max, n_running));
    CHECK(trial, provider_exported(provider, host->name) >= lent);
}

/* The policy's export of the host in the present plan. */
static int exported_of(const struct trial *trial, const char *policy, const char *host)
{
    const struct export_plan *plan = &trial->world.plan;
    for (int i = 0; i < plan->n_leases; i++) {
        const struct export_lease *lease = &plan->leases[i];
        for (int j = 0; j < lease->n_hosts && strcmp(lease->policy, policy) == 0; j++) {
            if (strcmp(lease->hosts[j].host, host) == 0) {
                return lease->hosts[j].n_slots;
            }
        }
    }
    return 0;
}

/* The leaves of a pool's policy have at most its export of the host, except for slots
 * in use. */
static void check_policy(struct trial *trial, const char *policy, const char *host)
{
    int n_slots = 0, n_used = 0;
    for (int i = 0; i < provider_count_leases(trial->world.provider); i++) {
        struct msg_state state;
        const char *lease = provider_lease_id(trial->world.provider, i);
        provider_find_lease(trial->world.provider, lease, &state);
        if (!is_pool(lease) || strncmp(lease + strlen("north/"), policy, 1) != 0) {
            continue;
        }
        for (int j = 0; j < state.n_hosts; j++) {
            if (strcmp(state.hosts[j].host, host) == 0) {
                n_slots += state.hosts[j].n_slots;
                n_used += state.hosts[j].provider_used + state.hosts[j].consumer_used;
            }
        }
    }
    CHECK(trial, n_slots <= greatest(exported_of(trial, policy, host), n_used));
}

static void check(struct trial *trial)
{
    for (int i = 0; i < HOSTS; i++) {
        check_policy(trial, "p", trial->hosts[i].name);
        check_policy(trial, "q", trial->hosts[i].name);
    }
    struct provider *provider = trial->world.provider;
    for (int i = 0; i < provider_count_leases(provider); i++) {
        struct msg_state state;
        CHECK(trial,
              provider_find_lease(provider, provider_lease_id(provider, i), &state));
        check_lease(trial, &state);
    }
    for (int i = 0; i < HOSTS; i++) {
        check_host(trial, i);
    }
}

/* When all runs have ended, withdrawn leases end and the others have their full export:
 * no slot is lost. */
static void finish(struct trial *trial)
{
    for (int i = 0; i < HOSTS; i++) {
        trial->hosts[i].max = trial->hosts[i].configured;
        trial->hosts[i].local_used = 0;
    }
    tell_hosts(trial);
    for (int i = 0; i < trial->n_runs; i++) {
        trial->runs[i].is_ended = true;
        provider_world_end(&trial->world, trial->runs[i].site, trial->runs[i].attempt);
    }
    provider_world_tick(&trial->world, WORLD_FREEZE_MS);
    for (int i = 0; i < provider_count_leases(trial->world.provider); i++) {
        struct msg_state state;
        const char *lease = provider_lease_id(trial->world.provider, i);
        CHECK(trial, provider_find_lease(trial->world.provider, lease, &state));
        CHECK(trial, !state.is_frozen);
        CHECK(trial, state.is_ended == state.is_withdrawn);
    }
    const struct export_plan *plan = &trial->world.plan;
    int exported[HOSTS] = {0};
    for (int i = 0; i < plan->n_leases; i++) {
        for (int j = 0; j < plan->leases[i].n_hosts; j++) {
            exported[index_of(trial, plan->leases[i].hosts[j].host)] +=
                plan->leases[i].hosts[j].n_slots;
        }
    }
    for (int i = 0; i < HOSTS; i++) {
        CHECK(trial, provider_exported(trial->world.provider, trial->hosts[i].name) ==
                         exported[i]);
    }
}

static void run_trial(uint64_t seed)
{
    static const struct model_host hosts[HOSTS] = {
        {.name = "n1", .configured = 4, .max = 4},
        {.name = "n2", .configured = 4, .max = 4},
        {.name = "n3", .configured = 6, .max = 6}};
    struct trial *trial = mem_alloc(1, sizeof(*trial));
    provider_world_init(&trial->world);
    rng_init(&trial->rng, seed);
    trial->seed = seed;
    memcpy(trial->hosts, hosts, sizeof(hosts));
    tell_hosts(trial);
    provider_world_export(&trial->world, plans[below(trial, 4)]);
    provider_world_session(&trial->world, 1);
    for (trial->step = 0; trial->step < STEPS; trial->step++) {
        step(trial);
        check(trial);
    }
    finish(trial);
    provider_world_release(&trial->world);
    free(trial);
}

static void test_promises(void **state)
{
    (void)state;
    if (only_seed != 0) {
        run_trial(only_seed);
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_trial(seed);
    }
}

int main(int argc, char **argv)
{
    only_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
