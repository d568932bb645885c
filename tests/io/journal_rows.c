/* SPDX-License-Identifier: Apache-2.0 */
/* journal_rows.c: see journal_rows.h. */
#include "tests/io/journal_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>

/* ---------------------------------------------------------------- as text */

static void add(struct journal_rows_text *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct journal_rows_text *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(to->text + to->length, sizeof(to->text) - to->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof(to->text) - to->length);
    to->length += (size_t)n;
}

static void add_book(struct journal_rows_text *to, const struct row_book *book)
{
    add(to, "book %s policy %s of %s content \"%s\" type %d epoch %" PRIu64,
        book->lease, book->policy, book->consumer, book->content, book->type,
        book->epoch);
    add(to, " made %d withdrawn %d ended %d drained %d by %" PRIu64 "\n", book->is_made,
        book->is_withdrawn, book->is_ended, book->is_drained, book->drain);
    for (int i = 0; i < book->n_hosts; i++) {
        add(to, "  %s %d = %d + %d\n", book->hosts[i].host, book->hosts[i].n_slots,
            book->hosts[i].provider, book->hosts[i].consumer);
        for (int k = 0; k < SPACES; k++) {
            add(to, "  space %d given %d: %d\n", k, book->hosts[i].spaces[k].is_given,
                book->hosts[i].spaces[k].mib);
        }
    }
    for (int i = 0; i < book->n_resources; i++) {
        const struct lease_resource *resource = &book->resources[i];
        add(to, "  %d of %s %d traits %d seen from \"%s\"\n", resource->n_instances,
            resource->name, resource->pool, resource->traits, resource->hosts);
    }
    for (int i = 0; i < book->n_recalls; i++) {
        add(to, "  recall %" PRIu64 " whole %d: %d by %" PRId64 "\n", book->recall,
            book->is_whole, book->recalls[i].n_held, book->recalls[i].deadline_ms);
    }
}

static void add_hosts(struct journal_rows_text *to, const struct host_slots *hosts,
                      int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        add(to, " on %s %d", hosts[i].host, hosts[i].n_slots);
    }
}

static void add_spec(struct journal_rows_text *to, const struct job_spec *spec)
{
    add(to, "  spec %s of %s %" PRId64 ":%" PRId64 " queue %s \"%s\" in %s", spec->name,
        spec->user, spec->uid, spec->gid, spec->queue, spec->command, spec->cwd);
    add(to,
        " files %s %s %s umask %" PRId64 " slots %d limit %" PRId64
        " rerun %d exclusive %d interaction %d\n",
        spec->in_file, spec->out_file, spec->err_file, spec->umask, spec->n_slots,
        spec->run_limit_ms, spec->is_rerunnable, spec->is_exclusive,
        (int)spec->interaction);
    for (int i = 0; i < spec->n_env; i++) {
        add(to, "  env \"%s\"\n", spec->env[i]);
    }
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        add(to, "  asked \"%s\"\n", spec->hosts_asked[i]);
    }
    for (int i = 0; i < spec->n_res_reqs; i++) {
        add(to, "  requires \"%s\"\n", spec->res_reqs[i]);
    }
    add(to, "  app \"%s\"\n", spec->app != NULL ? spec->app : "");
    for (int i = 0; i < spec->n_limits; i++) {
        add(to, "  limit \"%s\"\n", spec->limits[i]);
    }
    for (int i = 0; i < spec->n_pre_execs; i++) {
        add(to, "  before \"%s\"\n", spec->pre_execs[i]);
    }
    for (int i = 0; i < spec->n_post_execs; i++) {
        add(to, "  after \"%s\"\n", spec->post_execs[i]);
    }
    for (int i = 0; i < spec->n_controls; i++) {
        add(to, "  control \"%s\"\n", spec->controls[i]);
    }
}

/* Rows of a test may leave them out: to the journal that is nothing. */
static void add_terms(struct journal_rows_text *to, const struct job_terms *terms)
{
    add(to,
        "  depend \"%s\" \"%s\" begin %" PRId64 " project \"%s\" priority %" PRId64
        " at most %d for \"%s\"\n",
        terms->depend != NULL ? terms->depend : "",
        terms->depend_on != NULL ? terms->depend_on : "", terms->begin_ms,
        terms->project != NULL ? terms->project : "", terms->priority, terms->max_slots,
        terms->user_group != NULL ? terms->user_group : "");
    if (terms->job_group != NULL && terms->job_group[0] != 0) {
        add(to, "  in %s\n", terms->job_group);
    }
    if (terms->terminate_ms != 0 || terms->ends_orphan ||
        (terms->requeue_codes != NULL && terms->requeue_codes[0] != 0)) {
        add(to, "  ends by %" PRId64 " orphan %d codes \"%s\"\n", terms->terminate_ms,
            terms->ends_orphan, terms->requeue_codes);
    }
    if (terms->run_limit_host != NULL && terms->run_limit_host[0] != 0) {
        add(to, "  run limit of %s\n", terms->run_limit_host);
    }
    add(to, "  resizable %d \"%s\"\n", (int)terms->resizable,
        terms->resize_notify != NULL ? terms->resize_notify : "");
}

static void add_control(struct journal_rows_text *to, const struct run_control *control)
{
    add(to, "  control %" PRIu64 " %d %d\n", control->number, control->action,
        control->signal);
}

static void add_exit(struct journal_rows_text *to, const struct run_exit *exit)
{
    add(to, "  exit %d %d %" PRId64 " to %" PRId64 " cpu %" PRId64 " mem %" PRId64,
        exit->end, exit->code, exit->start_ms, exit->end_ms, exit->cpu_ms,
        exit->mem_kib);
    add(to, " put out %" PRId64 " %" PRId64 " post %d \"%s\"\n", exit->out_bytes,
        exit->err_bytes, exit->post, exit->text);
}

static void add_job_state(struct journal_rows_text *to,
                          const struct row_job_state *state)
{
    add(to, "job_state %" PRIu64 "[%d] dropped %d", state->id, state->index,
        state->is_dropped);
    add(to, " %d attempt %" PRIu64 " lease \"%s\" epoch %" PRIu64, state->state,
        state->attempt, state->lease, state->epoch);
    add(to, " taken %d", state->is_taken);
    add(to, " decided %d killed %d from %" PRId64 " to %" PRId64 " \"%s\"",
        state->is_decided, state->is_killed, state->start_ms, state->end_ms,
        state->reason);
    add_hosts(to, state->hosts, state->n_hosts);
    add(to, " reserved \"%s\"", state->reserved != NULL ? state->reserved : "");
    add(to, " avoids \"%s\"", state->avoided != NULL ? state->avoided : "");
    add(to, " backfill of %" PRIu64 " until %" PRId64 " limit %" PRId64,
        state->backfill_of, state->backfill_until_ms, state->run_limit_ms);
    add(to, " resize %" PRIu64 " %d to %d", state->resize.number,
        (int)state->resize.event, state->resize.max_slots);
    add_hosts(to, state->resize.hosts, state->resize.n_hosts);
    add(to, " queue \"%s\" place %" PRId64 " released %d requeued %d\n",
        state->queue != NULL ? state->queue : "", state->place, state->is_released,
        (int)state->requeue_cause);
    add(to, " requeues %d failures before it %d load \"%s\"\n", state->n_requeues,
        state->n_pre_fails, state->overload != NULL ? state->overload : "");
    add(to, " halt %d yields %d by %" PRIu64 " count %d", state->suspension.causes,
        state->suspension.yields, state->suspension.by, state->suspension.n_preempted);
    add(to, " %" PRId64 " %" PRId64 " %" PRId64 "\n", state->suspension.since_ms,
        state->suspension.resumed_ms, state->suspension.total_ms);
    add_control(to, &state->control);
    add_exit(to, &state->exit);
}

static void add_run(struct journal_rows_text *to, const struct row_run *run)
{
    add(to, "run %s/%" PRIu64 " job %s lease \"%s\" record %d token %" PRIu64,
        run->run.site, run->run.attempt, run->job, run->lease, run->record, run->token);
    add(to, " ends by %" PRId64, run->end_by_ms);
    add_hosts(to, run->hosts, run->n_hosts);
    add(to, "\n");
    add_control(to, &run->control);
    add_exit(to, &run->exit);
    if (run->spec != NULL) {
        add_spec(to, run->spec);
    }
}

void journal_rows_add(void *arg, const struct row *row)
{
    struct journal_rows_text *to = arg;
    switch (row->kind) {
    case ROW_COUNTER:
        add(to, "counter %s %" PRIu64 "\n", row->counter.name, row->counter.value);
        break;
    case ROW_BOOK:
        add_book(to, &row->book);
        break;
    case ROW_HIGH:
        add(to, "high %s %" PRIu64 "\n", row->high.consumer, row->high.attempt);
        break;
    case ROW_QUEUE:
        add(to, "queue %s closed %d inactive %d\n", row->queue.name,
            row->queue.is_closed, row->queue.is_inactive);
        break;
    case ROW_JOB:
        add(to, "job %" PRIu64 " at %" PRId64 " array %d\n", row->job.id,
            row->job.submit_ms, row->job.is_array);
        add_terms(to, &row->job.terms);
        add_spec(to, &row->job.spec);
        break;
    case ROW_JOB_STATE:
        add_job_state(to, &row->job_state);
        break;
    case ROW_RUN:
        add_run(to, &row->run);
        break;
    case ROW_CLOSED:
        add(to, "closed %s\n", row->closed.host);
        break;
    case ROW_JOB_GROUP:
        add(to, "job group %s %s %d\n", row->job_group.path, row->job_group.owner,
            row->job_group.max_jobs);
        break;
    case ROW_PICK:
        add(to, "pick %s %s %s\n", row->pick.policy, row->pick.content,
            row->pick.hosts);
        break;
    case ROW_CPUS:
        add(to, "cpus %s %d %d %d\n", row->cpus.host, row->cpus.n_procs,
            row->cpus.n_cores, row->cpus.n_threads);
        break;
    case ROW_SHARE:
        add(to, "share %s of %s cpu %.17g past %.17g ahead %.17g%s at %" PRId64 "\n",
            row->share.account, row->share.scope, row->share.cpu_ms, row->share.past_ms,
            row->share.ahead_ms, row->share.is_waiting ? " waits" : "",
            row->share.at_ms);
        break;
    case ROW_LEASE_ACCOUNT:
        add(to, "account of %s@%s: %" PRId64 "\n", row->lease_account.user,
            row->lease_account.site, row->lease_account.uid);
        break;
    case ROW_QUOTA:
        add(to, "quota %s %" PRId64 " hours of %" PRId64 ": %" PRId64 " until %" PRId64,
            row->quota.name, row->quota.n_hours, row->quota.month_ms,
            row->quota.used_ms, row->quota.booked_ms);
        add(to, " then %d since %" PRId64 " price %d\n", row->quota.n_used,
            row->quota.since_ms, row->quota.price);
        break;
    case ROW_OVERRIDE:
    case ROW_LEASE:
    case ROW_SITE:
    case ROW_POOL:
    case ROW_KEPT:
    case ROW_HOURS:
    case ROW_HISTORY:
    case ROW_JOB_EVENT:
    case ROW_KINDS:
        fail_msg("a row of kind %d", row->kind);
    }
}

/* ---------------------------------------------------------------- to write */

static const char *const some_env[] = {"PATH=/bin:/usr/bin", "EMPTY=", "", "TWO=a\nb"};
static const char *const some_asked[] = {"n1", "n2@north", "others"};
static const char *const some_reqs[] = {"swp > 15", "select[type == any]"};

static const char *const some_limits[] = {"cpu=60000", "mem=0"};
static const char *const some_execs[] = {"/bin/true", "echo 'two'\necho lines"};

static const char *const some_controls[] = {"suspend=TSTP", "resume=wake $LSB_JOBPIDS"};

struct job_spec journal_rows_full(void)
{
    return (struct job_spec){
        .name = "name with blanks",
        .user = "ana",
        .uid = 1000,
        .gid = 4294967294,
        .queue = "normal",
        .command = "echo 'it''s' \"\u00fc\"; exit 3\n",
        .cwd = "/home/ana",
        .in_file = "in",
        .out_file = "out.%J",
        .err_file = "err.%J",
        .env = some_env,
        .n_env = 4,
        .umask = 027,
        .n_slots = 3,
        .hosts_asked = some_asked,
        .n_hosts_asked = 3,
        .res_reqs = some_reqs,
        .n_res_reqs = 2,
        .run_limit_ms = 600000,
        .is_rerunnable = true,
        .is_exclusive = true,
        .app = "catia",
        .limits = some_limits,
        .n_limits = 2,
        .pre_execs = some_execs,
        .n_pre_execs = 2,
        .post_execs = some_execs + 1,
        .n_post_execs = 1,
        .interaction = INTERACTION_SHELL,
        .controls = some_controls,
        .n_controls = 2,
    };
}

struct job_spec journal_rows_empty(void)
{
    return (struct job_spec){
        .name = "",
        .user = "",
        .queue = "",
        .command = "",
        .cwd = "",
        .in_file = "",
        .out_file = "",
        .err_file = "",
    };
}

struct run_exit journal_rows_exit(void)
{
    return (struct run_exit){
        .end = RUN_END_SIGNALLED,
        .code = 9,
        .start_ms = 1700000000000,
        .end_ms = 1700000001000,
        .cpu_ms = 900,
        .mem_kib = 2048,
        .out_bytes = 10,
        .err_bytes = 20,
        .cause = RUN_CAUSE_CPU_LIMIT,
        .text = "killed",
        .post = RUN_POST_ERR,
    };
}

struct row journal_rows_job(uint64_t id, struct job_spec spec)
{
    struct row row = {.kind = ROW_JOB};
    row.job = (struct row_job){.id = id, .submit_ms = 1700000000000, .spec = spec};
    return row;
}

struct row journal_rows_state(uint64_t id, enum job_state state)
{
    struct row row = {.kind = ROW_JOB_STATE};
    row.job_state = (struct row_job_state){
        .id = id, .state = state, .lease = "", .reason = "", .exit.text = ""};
    return row;
}

struct row journal_rows_run(const char *site, uint64_t attempt, enum run_record record)
{
    struct row row = {.kind = ROW_RUN};
    row.run = (struct row_run){
        .run = {site, attempt, 1234567890123},
        .job = "1",
        .lease = "",
        .record = record,
        .exit.text = "",
    };
    return row;
}
