/* SPDX-License-Identifier: Apache-2.0 */
/* world_slurm.c: see world_slurm.h. */
#include "sim/world/world_slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/world_daemon.h"
#include "sim/world/world_net.h"
#include "site/site_lent.h"
#include "slurm/slurm_agent.h"

enum {
    TERM_S = 900,
    CYCLE_MS = 15000,
    COMMAND_MAX_MS = 300,
    LOST_MS = 30000, /* the deadline of a command */
    RUNS_MAX = 4096,
};

/* A directory of a run. */
struct slurm_dir {
    struct slurm_run_record record;
    struct msg start; /* RUN_START */
    struct arena arena;
    struct slurm_run_files files;
    bool is_there;
};

struct world_slurm {
    struct world *world;
    int site;
    struct sim_slurm *cluster;
    struct slurm_agent *agent; /* NULL: the daemon is down */
    struct slurm_dir *dirs;
    int n_dirs;
    struct arena command_arena, arena;
    const char *const *command; /* under way; NULL: none */
    int64_t command_ms;         /* it ends then */
    bool is_lost;               /* and fails, carried out or not */
    struct site_lent *lent;     /* as of the last step, in `arena` */
    int n_lent;
    char *told; /* contracts that the agent has, as a text */
    uint64_t n_lives;
};

/* ---------------------------------------------------------------- directories */

static struct slurm_dir *find_dir(struct world_slurm *slurm, const struct run_id *run)
{
    for (int i = 0; i < slurm->n_dirs; i++) {
        struct slurm_dir *dir = &slurm->dirs[i];
        if (dir->is_there && dir->record.run.attempt == run->attempt &&
            dir->record.run.nonce == run->nonce &&
            strcmp(dir->record.run.site, run->site) == 0) {
            return dir;
        }
    }
    return NULL;
}

static int make_run(void *arg, const struct slurm_run_record *record,
                    const struct msg_run_start *start, struct err *err)
{
    struct world_slurm *slurm = arg;
    const struct msg msg = {.kind = MSG_RUN_START, .site = "", .run_start = *start};
    if (find_dir(slurm, &record->run) != NULL) {
        return err_set(err, ERR_EXISTS, "the directory is there");
    }
    slurm->dirs =
        mem_grow(slurm->dirs, (size_t)slurm->n_dirs + 1, sizeof(*slurm->dirs));
    struct slurm_dir *dir = &slurm->dirs[slurm->n_dirs++];
    *dir = (struct slurm_dir){.record = *record, .is_there = true};
    arena_init_small(&dir->arena);
    msg_copy(&dir->arena, &msg, &dir->start);
    dir->record.run.site = dir->start.run_start.run.site;
    dir->record.lease = arena_str(&dir->arena, record->lease);
    dir->record.node = arena_str(&dir->arena, record->node);
    dir->record.account = arena_str(&dir->arena, record->account);
    return 0;
}

static bool look(void *arg, const struct run_id *run, struct slurm_run_files *files)
{
    const struct slurm_dir *dir = find_dir(arg, run);
    if (dir != NULL) {
        *files = dir->files;
    }
    return dir != NULL;
}

static bool claim(void *arg, const struct run_id *run)
{
    struct slurm_dir *dir = find_dir(arg, run);
    bool is_first = dir != NULL && !dir->files.is_claimed;
    if (is_first) {
        dir->files.is_claimed = true;
    }
    return is_first;
}

static void remove_run(void *arg, const struct run_id *run)
{
    struct world_slurm *slurm = arg;
    struct slurm_dir *dir = find_dir(slurm, run);
    if (dir != NULL) {
        arena_release(&dir->arena);
        *dir = slurm->dirs[--slurm->n_dirs];
    }
}

static void keep_control(void *arg, const struct run_id *run, uint64_t number)
{
    struct slurm_dir *dir = find_dir(arg, run);
    if (dir != NULL) {
        dir->record.control_done = number;
    }
}

static const char *group(void *arg, const char *account, struct arena *arena)
{
    (void)arg;
    (void)account;
    return arena_str(arena, "100");
}

static const char *script(void *arg, const struct run_id *run, struct arena *arena)
{
    (void)arg;
    return arena_printf(arena, "/spool/%llu/script", (unsigned long long)run->attempt);
}

static void read_output(void *arg, const struct msg_output_ask *ask,
                        struct msg_output *output, struct arena *arena)
{
    (void)arg;
    (void)ask;
    (void)arena;
    output->is_gone = true;
}

static bool read_start(void *arg, const struct run_id *run, struct msg_run_start *start,
                       struct arena *arena)
{
    const struct slurm_dir *dir = find_dir(arg, run);
    struct msg copy;
    if (dir != NULL) {
        msg_copy(arena, &dir->start, &copy);
        *start = copy.run_start;
    }
    return dir != NULL;
}

/* ---------------------------------------------------------------- on the nodes */

/* The run whose script that is; NULL: none that has a directory. */
static struct slurm_dir *dir_of(struct world_slurm *slurm,
                                const struct sim_slurm_script *job)
{
    char site[NAME_SIZE], consumer[NAME_SIZE];
    unsigned long long attempt, nonce;
    if (sscanf(job->comment, "sublet:%63[^:]:%63[^:]:%llu:%llu", site, consumer,
               &attempt, &nonce) != 4) {
        return NULL;
    }
    return find_dir(slurm, &(struct run_id){consumer, attempt, nonce});
}

static void use(struct world_slurm *slurm, const struct slurm_dir *dir, int n_slots)
{
    struct world *world = slurm->world;
    struct invariants_text text = WORLD_TEXT(world);
    const struct executor_use used = {.host = dir->record.node,
                                      .lease = dir->record.lease,
                                      .n_slots = n_slots,
                                      .n_gone = n_slots < 0 ? -n_slots : 0};
    world_state_check(world,
                      invariant_host_used(world->invariants,
                                          world->sites[slurm->site].config->name, &used,
                                          &text),
                      &text);
}

/* A script begins, takes the claim, and is the job, or does nothing. */
static void begun(void *arg, const struct sim_slurm_script *job,
                  struct sim_slurm_work *work)
{
    struct world_slurm *slurm = arg;
    struct world *world = slurm->world;
    struct slurm_dir *dir = dir_of(slurm, job);
    struct invariants_text text = WORLD_TEXT(world);
    long long ms = 0;
    int code = 0;
    if (strncmp(job->comment, "sublet:", 7) != 0) {
        return; /* a job of the cluster's own users */
    }
    *work = (struct sim_slurm_work){.ms = 0};
    if (dir == NULL || dir->files.is_claimed) {
        return;
    }
    dir->files.is_claimed = true;
    dir->files.begun_ms = world->now_ms;
    (void)sscanf(dir->start.run_start.spec.command, "run %lld exit %d", &ms, &code);
    *work = (struct sim_slurm_work){.ms = ms, .wait_status = code << 8};
    world->counts.begun++;
    world_state_check(world,
                      invariant_job_started(world->invariants, dir->record.run.site,
                                            dir->start.run_start.job,
                                            dir->start.run_start.spec.name, &text),
                      &text);
    use(slurm, dir, dir->record.n_slots);
}

/* One that ends by itself writes down how. */
static void ended(void *arg, const struct sim_slurm_script *job, int wait_status)
{
    struct world_slurm *slurm = arg;
    struct slurm_dir *dir = dir_of(slurm, job);
    if (dir == NULL || dir->files.begun_ms == 0 || dir->files.has_ended ||
        job->n_starts < 0) {
        return;
    }
    invariant_job_exited(slurm->world->invariants, &dir->record.run, wait_status);
    if ((wait_status & 0x7f) == 0) {
        dir->files.has_ended = true;
        dir->files.end = (struct slurm_script_end){.status = wait_status >> 8,
                                                   .ended_ms = slurm->world->now_ms};
    }
    use(slurm, dir, -dir->record.n_slots);
}

/* ---------------------------------------------------------------- the agent */

static void send_to_site(void *arg, const char *node, const struct msg *msg)
{
    struct world_slurm *slurm = arg;
    int host = world_state_find_host(slurm->world, slurm->site, node);
    if (host >= 0) {
        world_net_send_from_host(slurm->world, host, msg);
    }
}

static void command(void *arg, const char *const *words)
{
    struct world_slurm *slurm = arg;
    struct world *world = slurm->world;
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    arena_clear(&slurm->command_arena);
    const char **copy =
        arena_alloc(&slurm->command_arena, (size_t)count + 1, sizeof(*copy));
    for (int i = 0; i < count; i++) {
        copy[i] = arena_str(&slurm->command_arena, words[i]);
    }
    slurm->command = copy;
    slurm->is_lost = world->options.slurm_loss_in_10000 > 0 &&
                     rng_below(&world->rng, 10000) < world->options.slurm_loss_in_10000;
    slurm->command_ms =
        world->now_ms +
        (slurm->is_lost ? LOST_MS
                        : 1 + rng_below(&world->rng, world->options.slurm_slow_ms > 0
                                                         ? world->options.slurm_slow_ms
                                                         : COMMAND_MAX_MS));
}

static void held(void *arg, const struct slurm_contract *contract,
                 const char *const *nodes, int n_nodes)
{
    struct world_slurm *slurm = arg;
    struct world *world = slurm->world;
    for (int i = 0; i < slurm->n_lent; i++) {
        const struct provider_contract *from = &slurm->lent[i].contract;
        if (strcmp(from->policy, contract->policy) == 0 &&
            strcmp(from->consumer, contract->consumer) == 0 &&
            from->epoch == contract->epoch) {
            site_lent_held(world->sites[slurm->site].site, from->lease, from->freeze,
                           nodes, n_nodes, world->now_ms);
            world->batches[slurm->site + 1].is_open = true;
        }
    }
}

static void waiting(void *arg, int n_cpus)
{
    struct world_slurm *slurm = arg;
    site_lent_waiting(slurm->world->sites[slurm->site].site, n_cpus);
    slurm->world->batches[slurm->site + 1].is_open = true;
}

static void log_text(void *arg, enum log_level level, const char *text)
{
    const struct world_slurm *slurm = arg;
    const struct world *world = slurm->world;
    (void)level;
    if (world->trace != NULL) {
        world->trace(world->trace_arg, world->now_ms - world->options.start_ms, text);
    }
}

/* ---------------------------------------------------------------- contracts */

static const char *add_names(struct world_slurm *slurm, const char *text,
                             const char *const *names, int n_names)
{
    for (int i = 0; i < n_names; i++) {
        text = arena_printf(&slurm->arena, "%s,%s", text, names[i]);
    }
    return arena_printf(&slurm->arena, "%s;", text);
}

static const char *describe(struct world_slurm *slurm)
{
    const char *text = "";
    for (int i = 0; i < slurm->n_lent; i++) {
        const struct provider_contract *contract = &slurm->lent[i].contract;
        text = arena_printf(&slurm->arena, "%s%s %llu %llu %d %s", text,
                            contract->lease, (unsigned long long)contract->epoch,
                            (unsigned long long)contract->freeze, contract->ends_lost,
                            slurm->lent[i].accounts);
        text = add_names(slurm, text, contract->hosts, contract->n_hosts);
        text = add_names(slurm, text, contract->candidates, contract->n_candidates);
    }
    return text;
}

static void set_contracts(struct world_slurm *slurm)
{
    struct slurm_contract *contracts =
        arena_alloc(&slurm->arena, (size_t)slurm->n_lent + 1, sizeof(*contracts));
    for (int i = 0; i < slurm->n_lent; i++) {
        const struct provider_contract *from = &slurm->lent[i].contract;
        contracts[i] = (struct slurm_contract){.policy = from->policy,
                                               .consumer = from->consumer,
                                               .epoch = from->epoch,
                                               .users = slurm->lent[i].accounts,
                                               .keeps_jobs = !from->ends_lost,
                                               .nodes = from->hosts,
                                               .n_nodes = from->n_hosts,
                                               .held = from->candidates,
                                               .n_held = from->n_candidates};
    }
    slurm_agent_set_contracts(slurm->agent, contracts, slurm->n_lent,
                              slurm->world->now_ms);
}

/* What is lent now, which is on disk: it is called outside of batches. */
static void refresh(struct world_slurm *slurm)
{
    struct world *world = slurm->world;
    struct site *site = world->sites[slurm->site].site;
    arena_clear(&slurm->arena);
    slurm->n_lent = site_lent_list(site, &slurm->arena, &slurm->lent);
    for (int i = 0; i < slurm->n_lent; i++) {
        const struct provider_contract *contract = &slurm->lent[i].contract;
        if (contract->n_candidates == 0) {
            site_lent_held(site, contract->lease, contract->freeze, NULL, 0,
                           world->now_ms);
        }
    }
    const char *text = describe(slurm);
    if (slurm->told == NULL || strcmp(slurm->told, text) != 0) {
        free(slurm->told);
        slurm->told = strdup(text);
        set_contracts(slurm);
    }
}

/* ---------------------------------------------------------------- life */

void world_slurm_add(struct world *world, int site)
{
    const struct site_config *config = world->sites[site].config;
    struct world_slurm *slurm = mem_alloc(1, sizeof(*slurm));
    const struct sim_slurm_watch watch = {.arg = slurm, .begun = begun, .ended = ended};
    *slurm = (struct world_slurm){.world = world, .site = site};
    arena_init(&slurm->arena);
    arena_init(&slurm->command_arena);
    slurm->cluster = sim_slurm_new(world->options.seed, "main", &watch, world->now_ms);
    for (int i = 0; i < config->n_hosts; i++) {
        sim_slurm_add_node(slurm->cluster,
                           &(struct sim_slurm_node){.name = config->hosts[i].name,
                                                    .n_cpus = config->hosts[i].max,
                                                    .mem_mib = 1000,
                                                    .features = "",
                                                    .partitions = "main"});
    }
    world->sites[site].slurm = slurm;
}

void world_slurm_free(struct world_slurm *slurm)
{
    if (slurm == NULL) {
        return;
    }
    slurm_agent_free(slurm->agent);
    for (int i = 0; i < slurm->n_dirs; i++) {
        arena_release(&slurm->dirs[i].arena);
    }
    sim_slurm_free(slurm->cluster);
    arena_release(&slurm->arena);
    arena_release(&slurm->command_arena);
    free(slurm->dirs);
    free(slurm->told);
    free(slurm);
}

void world_slurm_start(struct world *world, int site)
{
    struct world_slurm *slurm = world->sites[site].slurm;
    const struct site_config *config = world->sites[site].config;
    const struct slurm_agent_config setting = {.site = config->name,
                                               .agent = "root",
                                               .partition = "",
                                               .account = "",
                                               .term_s = TERM_S,
                                               .cycle_ms = CYCLE_MS,
                                               .seed = world->options.seed +
                                                       ++slurm->n_lives};
    const struct slurm_agent_io io = {.arg = slurm,
                                      .send = send_to_site,
                                      .command = command,
                                      .make_run = make_run,
                                      .look = look,
                                      .claim = claim,
                                      .remove_run = remove_run,
                                      .keep_control = keep_control,
                                      .group = group,
                                      .script = script,
                                      .read_output = read_output,
                                      .read_start = read_start,
                                      .held = held,
                                      .waiting = waiting,
                                      .log = log_text};
    const char **names = mem_alloc((size_t)config->n_hosts + 1, sizeof(*names));
    slurm->agent = slurm_agent_new(&setting, &io);
    for (int i = 0; i < slurm->n_dirs; i++) {
        slurm_agent_load(slurm->agent, &slurm->dirs[i].record, world->now_ms);
    }
    for (int i = 0; i < config->n_hosts; i++) {
        names[i] = config->hosts[i].name;
    }
    slurm_agent_set_nodes(slurm->agent, names, config->n_hosts, world->now_ms);
    free(names);
}

void world_slurm_stop(struct world *world, int site)
{
    struct world_slurm *slurm = world->sites[site].slurm;
    slurm_agent_free(slurm->agent);
    slurm->agent = NULL;
    slurm->command = NULL;
    slurm->n_lent = 0;
    free(slurm->told);
    slurm->told = NULL;
}

void world_slurm_take(struct world *world, int site, const char *node,
                      const struct msg *msg)
{
    struct world_slurm *slurm = world->sites[site].slurm;
    if (slurm->agent != NULL) {
        slurm_agent_message(slurm->agent, node, msg, world->now_ms);
    }
}

/* ---------------------------------------------------------------- steps */

static void answer(struct world_slurm *slurm)
{
    struct world *world = slurm->world;
    struct sim_slurm_answer said = {.status = 1, .output = "", .error = "no answer"};
    struct arena arena = slurm->command_arena; /* the next command may begin */
    struct err err = {.text = ""};
    bool is_lost = slurm->is_lost;
    if (!is_lost || rng_percent(&world->rng, 50)) {
        sim_slurm_run(slurm->cluster, slurm->command, &arena, &said);
    }
    arena_init(&slurm->command_arena);
    slurm->command = NULL;
    int rc = is_lost            ? err_set(&err, ERR_AWAY, "no answer")
             : said.status != 0 ? err_set(&err, ERR_IO, "%s", said.error)
                                : 0;
    slurm_agent_done(slurm->agent, rc, rc == 0 ? said.output : "", &err, world->now_ms);
    arena_release(&arena);
}

static bool step_site(struct world *world, int site)
{
    struct world_slurm *slurm = world->sites[site].slurm;
    bool is_any = sim_slurm_next_ms(slurm->cluster) <= world->now_ms;
    sim_slurm_advance(slurm->cluster, world->now_ms);
    const char *node = sim_slurm_overused(slurm->cluster);
    if (node != NULL) {
        world_state_violate(world, "CPUs of node %s are used twice", node);
    }
    if (slurm->agent == NULL || world->batches[site + 1].is_open) {
        return is_any;
    }
    refresh(slurm);
    if (slurm->command != NULL && slurm->command_ms <= world->now_ms) {
        answer(slurm);
        is_any = true;
    }
    if (slurm_agent_wake_ms(slurm->agent) <= world->now_ms) {
        slurm_agent_tick(slurm->agent, world->now_ms);
        is_any = true;
    }
    return is_any;
}

bool world_slurm_step(struct world *world)
{
    bool is_any = false;
    for (int i = 0; i < world->n_sites; i++) {
        if (world->sites[i].slurm != NULL && step_site(world, i)) {
            is_any = true;
        }
    }
    return is_any;
}

int64_t world_slurm_wake_ms(const struct world *world)
{
    int64_t least_ms = INT64_MAX;
    for (int i = 0; i < world->n_sites; i++) {
        const struct world_slurm *slurm = world->sites[i].slurm;
        if (slurm == NULL) {
            continue;
        }
        const int64_t times[] = {
            sim_slurm_next_ms(slurm->cluster),
            slurm->agent != NULL ? slurm_agent_wake_ms(slurm->agent) : INT64_MAX,
            slurm->command != NULL ? slurm->command_ms : INT64_MAX};
        for (int k = 0; k < 3; k++) {
            least_ms = times[k] < least_ms ? times[k] : least_ms;
        }
    }
    return least_ms;
}

struct sim_slurm *world_slurm_of(const struct world *world, int site)
{
    return world->sites[site].slurm != NULL ? world->sites[site].slurm->cluster : NULL;
}
