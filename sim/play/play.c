/* SPDX-License-Identifier: Apache-2.0 */
/* play.c: the loop over the instants of a scenario. */
#include "sim/play/play.h"

#include <stdio.h>
#include <stdlib.h>

#include "provider/provider.h"
#include "sim/play/play_action.h"
#include "sim/play/play_config.h"
#include "sim/play/play_expect.h"

enum {
    SETTLE_STEP_MS = 20037, /* not a multiple of any reclaim delay */
    DEFAULT_DELAY_MS = 600000,
    PROGRESS_EVERY = 256, /* instants */
};

/* ---- what watches the world */

/* The slots of its leases that the site's own jobs use. */
static void log_own_use(struct play *play, int site, int64_t now_ms)
{
    struct site *machine = world_site(play->world, site);
    struct provider *provider = machine ? site_provider(machine) : NULL;

    for (int i = 0; provider && i < provider_count_leases(provider); i++) {
        const char *lease = provider_lease_id(provider, i);
        struct msg_state state;

        if (provider_find_lease(provider, lease, &state)) {
            usage_log_own(play->usage, &state, now_ms);
        }
    }
}

static void log_usage(struct play *play, int site, const struct row *row,
                      int64_t now_ms)
{
    if (play->usage && site >= 0) {
        usage_log_stored(play->usage, site, row, now_ms);
        log_own_use(play, site, now_ms);
    }
}

static void on_stored(void *arg, int site, const struct row *row, int64_t now_ms)
{
    event_log_stored(((struct play *)arg)->log, site, row, now_ms);
    log_usage(arg, site, row, now_ms);
    if (row->kind == ROW_CPUS) {
        play_config_count_slots(arg, site);
    }
}

static void on_used(void *arg, int site, const char *lease, int n_slots, int64_t now_ms)
{
    (void)lease;
    event_log_used(((struct play *)arg)->log, site, n_slots, now_ms);
}

static void on_crashed(void *arg, int site, int64_t now_ms)
{
    struct play *play = arg;

    event_log_fault(play->log, "crash",
                    site < 0 ? "broker" : play->scenario->sites[site].name, now_ms);
}

/* ---- making one */

static int count_actions(const struct scenario *scenario)
{
    int count = 0;

    for (int i = 0; i < scenario->n_statements; i++) {
        const struct statement *at = &scenario->statements[i];

        count += at->kind == STATEMENT_WORKLOAD ? at->workload.swf.n_jobs
                                                : at->kind != STATEMENT_EXPECT;
    }
    return count;
}

static int compare_actions(const void *a, const void *b)
{
    const struct play_action *one = a, *other = b;

    if (one->at_ms != other->at_ms) {
        return one->at_ms < other->at_ms ? -1 : 1;
    }
    if (one->statement->line != other->statement->line) {
        return one->statement->line - other->statement->line;
    }
    return one->swf_job - other->swf_job;
}

static void list_actions(struct play *play)
{
    const struct scenario *scenario = play->scenario;
    int n = 0, count = count_actions(scenario);

    play->actions = mem_alloc((size_t)count + 1, sizeof play->actions[0]);
    for (int i = 0; i < scenario->n_statements; i++) {
        const struct statement *at = &scenario->statements[i];

        if (at->kind == STATEMENT_WORKLOAD) {
            for (int k = 0; k < at->workload.swf.n_jobs; k++) {
                play->actions[n++] = (struct play_action){
                    at->at_ms + at->workload.swf.jobs[k].at_ms, at, k};
            }
        } else if (at->kind != STATEMENT_EXPECT) {
            play->actions[n++] = (struct play_action){at->at_ms, at, -1};
        }
    }
    play->n_actions = n;
    if (n > 1) {
        qsort(play->actions, (size_t)n, sizeof play->actions[0], compare_actions);
    }
}

static void configure(struct play *play)
{
    const struct scenario *scenario = play->scenario;
    size_t n_sites = (size_t)scenario->n_sites;

    play->sites = mem_alloc(n_sites, sizeof play->sites[0]);
    play->given = mem_alloc(n_sites, sizeof play->given[0]);
    for (int i = 0; i < scenario->n_sites; i++) {
        play_config_site(play, i, &scenario->sites[i].setup.config);
    }
    play_config_broker(play, &scenario->broker.config);
}

static void begin_log(struct play *play)
{
    int n_sites = play->scenario->n_sites;
    const char **names = arena_alloc(&play->arena, (size_t)n_sites, sizeof names[0]);
    int *n_slots = arena_alloc(&play->arena, (size_t)n_sites, sizeof n_slots[0]);

    for (int i = 0; i < n_sites; i++) {
        names[i] = play->scenario->sites[i].name;
        for (int k = 0; k < play->sites[i].n_hosts; k++) {
            n_slots[i] +=
                play->sites[i].hosts[k].is_counted ? 0 : play->sites[i].hosts[k].max;
        }
    }
    struct event_log_options setting = {.sites = names,
                                        .n_slots = n_slots,
                                        .n_sites = n_sites,
                                        .epoch_ms = PLAY_EPOCH_MS,
                                        .on_event = play->options.on_event,
                                        .on_level = play->options.on_level,
                                        .arg = play->options.arg};

    play->summary = summary_new(names, n_sites);
    play->log = event_log_new(&setting, play->summary);
}

static int64_t longer(int64_t longest_ms, const struct site_config *config)
{
    longest_ms =
        config->reclaim_delay_ms > longest_ms ? config->reclaim_delay_ms : longest_ms;
    return config->freeze_timeout_ms > longest_ms ? config->freeze_timeout_ms
                                                  : longest_ms;
}

/* Twice the longest reclaim delay or freeze time-out in the scenario. */
static int64_t patience_of(const struct play *play)
{
    int64_t longest_ms = DEFAULT_DELAY_MS;

    for (int i = 0; i < play->scenario->n_sites; i++) {
        longest_ms = longer(longest_ms, &play->sites[i]);
    }
    for (int i = 0; i < play->scenario->n_statements; i++) {
        const struct statement *at = &play->scenario->statements[i];

        if (at->kind == STATEMENT_RECLAIM && at->ms > longest_ms) {
            longest_ms = at->ms;
        } else if (at->kind == STATEMENT_RELOAD && at->site != SCENARIO_BROKER) {
            longest_ms = longer(longest_ms, &at->reload->site.config);
        }
    }
    return 2 * longest_ms;
}

struct play *play_new(const struct scenario *scenario,
                      const struct play_options *options)
{
    struct play *play = mem_alloc(1, sizeof *play);
    struct world_watch watch = {
        .stored = on_stored, .used = on_used, .crashed = on_crashed, .arg = play};

    play->scenario = scenario;
    play->options = *options;
    arena_init(&play->arena);
    play->job_ids =
        mem_alloc((size_t)scenario->n_statements + 1, sizeof play->job_ids[0]);
    play->hour_ms = scenario->hour_ms;
    configure(play);
    list_actions(play);
    begin_log(play);
    play->usage = options->with_usage ? usage_log_new() : NULL;
    play->faults = (struct world_options){.seed = options->seed,
                                          .start_ms = PLAY_EPOCH_MS,
                                          .utc_offset_ms = PLAY_UTC_OFFSET_MS,
                                          .is_calm = !scenario->has_faults};
    play->world = world_new(&play->faults, &play->broker);
    for (int i = 0; i < scenario->n_sites; i++) {
        world_add_site(play->world, &play->sites[i]);
    }
    world_set_watch(play->world, &watch);
    world_set_trace(play->world, options->on_line, options->arg);
    world_set_patience(play->world, patience_of(play));
    return play;
}

void play_free(struct play *play)
{
    if (!play) {
        return;
    }
    world_free(play->world);
    event_log_free(play->log);
    summary_free(play->summary);
    usage_log_free(play->usage);
    free(play->sites);
    free(play->given);
    free(play->actions);
    free(play->late);
    free(play->job_ids);
    arena_release(&play->arena);
    free(play);
}

/* ---- one instant */

static void put_off(struct play *play, const struct play_action *action)
{
    struct play_action late = *action;

    late.at_ms = world_back_ms(play->world, action->statement->site) - PLAY_EPOCH_MS;
    if (play->n_late == play->late_capacity) {
        play->late_capacity = play->late_capacity ? 2 * play->late_capacity : 16;
        play->late =
            mem_grow(play->late, (size_t)play->late_capacity, sizeof play->late[0]);
    }
    play->late[play->n_late++] = late;
}

/* Repeats the delayed statements, in order, whose site is up again. */
static void do_late(struct play *play, int64_t now_ms)
{
    int n_late = play->n_late, n_left = 0;

    for (int i = 0; i < n_late; i++) {
        struct play_action action = play->late[i];

        if (action.at_ms > now_ms) {
            play->late[n_left++] = action;
        } else if (!play_action_run(play, &action)) {
            action.at_ms =
                world_back_ms(play->world, action.statement->site) - PLAY_EPOCH_MS;
            play->late[n_left++] = action;
        }
    }
    play->n_late = n_left;
}

static int64_t next_late_ms(const struct play *play)
{
    int64_t least_ms = INT64_MAX;

    for (int i = 0; i < play->n_late; i++) {
        least_ms = play->late[i].at_ms < least_ms ? play->late[i].at_ms : least_ms;
    }
    return least_ms;
}

static bool run_to(struct play *play, int64_t now_ms)
{
    return world_run(play->world, PLAY_EPOCH_MS + now_ms);
}

static bool play_instant(struct play *play, int64_t now_ms, int *next_expect)
{
    const struct scenario *scenario = play->scenario;

    world_advance(play->world, PLAY_EPOCH_MS + now_ms);
    for (; play->next_action < play->n_actions &&
           play->actions[play->next_action].at_ms == now_ms;
         play->next_action++) {
        if (!play_action_run(play, &play->actions[play->next_action])) {
            put_off(play, &play->actions[play->next_action]);
        }
    }
    if (!run_to(play, now_ms)) {
        return false;
    }
    if (next_late_ms(play) <= now_ms) {
        do_late(play, now_ms);
        if (!run_to(play, now_ms)) {
            return false;
        }
    }
    for (; *next_expect < scenario->n_statements &&
           scenario->statements[*next_expect].at_ms <= now_ms;
         ++*next_expect) {
        if (scenario->statements[*next_expect].kind == STATEMENT_EXPECT) {
            play_expect(play, &scenario->statements[*next_expect]);
        }
    }
    return true;
}

static int64_t next_instant(const struct play *play, int next_expect)
{
    const struct scenario *scenario = play->scenario;
    int64_t next_ms = scenario->until_ms;
    int64_t late_ms = next_late_ms(play);

    if (next_expect < scenario->n_statements &&
        scenario->statements[next_expect].at_ms < next_ms) {
        next_ms = scenario->statements[next_expect].at_ms;
    }
    if (play->next_action < play->n_actions &&
        play->actions[play->next_action].at_ms < next_ms) {
        next_ms = play->actions[play->next_action].at_ms;
    }
    return late_ms < next_ms ? late_ms : next_ms;
}

enum play_end play_run(struct play *play)
{
    int64_t until_ms = play->scenario->until_ms, now_ms = 0;
    int next_expect = 0;
    bool is_well = run_to(play, 0); /* all daemons are up */

    for (int n = 0; is_well; n++) {
        now_ms = next_instant(play, next_expect);
        is_well = (now_ms == 0 || run_to(play, now_ms - 1)) &&
                  play_instant(play, now_ms, &next_expect);
        if (play->options.on_progress && n % PROGRESS_EVERY == 0) {
            play->options.on_progress(play->options.arg, now_ms, until_ms);
        }
        if (now_ms >= until_ms) {
            break;
        }
    }
    summary_finish(play->summary, world_now_ms(play->world) - PLAY_EPOCH_MS);
    return !is_well ? PLAY_VIOLATED : play->n_failed > 0 ? PLAY_FAILED : PLAY_WELL;
}

/* ---- behind the end */

static void resume_all(struct play *play)
{
    for (int i = 0; i < play->scenario->n_sites; i++) {
        const struct site *site = world_site(play->world, i);

        for (int k = 0; site && k < site_count_jobs(site); k++) {
            struct site_job job;

            site_job_at(site, k, &job);
            if (job.state == JOB_USUSP || job.state == JOB_PSUSP) {
                world_client_control(play->world, i, job.id, job.index, CONTROL_RESUME);
            }
        }
    }
}

static void recover_all(struct play *play)
{
    for (int i = 0; i < play->scenario->n_sites; i++) {
        world_fault_recover(play->world, i, false);
        world_fault_accept_loss(play->world, i);
    }
}

bool play_settle(struct play *play, int64_t limit_ms, char *text, int size)
{
    struct world_options none = {.seed = play->options.seed};
    int64_t now_ms = world_now_ms(play->world), end_ms = now_ms + limit_ms;

    world_fault_set_random(play->world, &none);
    world_host_mend_commands(play->world); /* otherwise a job may fail forever */
    do {
        now_ms += SETTLE_STEP_MS;
        if (!world_run(play->world, now_ms)) {
            snprintf(text, (size_t)size, "%s", world_violation(play->world));
            return false;
        }
        do_late(play, now_ms - PLAY_EPOCH_MS);
        resume_all(play);
        recover_all(play);
        world_host_report_loads(play->world);
    } while (!world_is_settled(play->world, text, size) && now_ms < end_ms);
    return world_is_settled(play->world, text, size);
}

/* ---- what came of it */

const struct play_remark *play_remarks(const struct play *play)
{
    return play->first;
}

const char *play_violation(const struct play *play)
{
    return world_violation(play->world);
}

struct value *play_usage(const struct play *play, struct arena *arena)
{
    return usage_log_show(play->usage, arena, PLAY_EPOCH_MS, play->scenario->until_ms);
}

const struct summary *play_summary(const struct play *play)
{
    return play->summary;
}

struct world_counts play_counts(const struct play *play)
{
    return world_counts(play->world);
}
