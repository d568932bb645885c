/* SPDX-License-Identifier: Apache-2.0 */
/* terminals.c: see site_client.h. */
#include "site/client/site_client.h"

#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"
#include "site/job/job.h"

/* The daemon accepts no more connections of clients than that (sys/local/local.h). */
enum { TERMINALS_MAX = 1000 };

struct terminal {
    uint64_t key;        /* of the job */
    uint64_t link;       /* of its user; 0: none */
    int64_t deadline_ms; /* of a job without a user: then it is ended; else INT64_MAX */
    /* What the user was last told. */
    uint64_t attempt; /* the running one; 0: the job is pending */
    enum job_state state;
    bool is_cut;       /* its streams are interrupted */
    bool is_draining;  /* its lease is draining */
    int64_t recall_ms; /* when its slots have to be given back; 0: never */
};

struct terminals {
    struct terminals_parts parts;
    struct terminal *items;
    int count, capacity;
};

struct terminals *terminals_new(const struct terminals_parts *parts)
{
    struct terminals *terminals = mem_alloc(1, sizeof(*terminals));
    terminals->parts = *parts;
    return terminals;
}

void terminals_free(struct terminals *terminals)
{
    if (terminals != NULL) {
        free(terminals->items);
        free(terminals);
    }
}

/* ---------------------------------------------------------------- submission */

int terminals_check_queue(const struct queue_config *queue, const struct job_spec *spec,
                          struct err *err)
{
    bool is_interactive = spec->interaction != INTERACTION_NONE;
    if (is_interactive && queue->interactive == QUEUE_TAKES_BATCH) {
        return err_set(err, ERR_STATE, "%s: Queue does not accept interactive jobs",
                       queue->name);
    }
    if (!is_interactive && queue->interactive == QUEUE_TAKES_INTERACTIVE) {
        return err_set(err, ERR_STATE, "%s: Queue only accepts interactive jobs (-I)",
                       queue->name);
    }
    return 0;
}

/* Whether all hosts of the queue are borrowed from providers that take no interactive
 * jobs. A queue without hosts may still get borrowed ones. */
static bool is_refused(const struct terminals *terminals,
                       const struct queue_config *queue)
{
    int preference, n_refused = 0;
    for (int i = 0; i < host_table_count(terminals->parts.hosts); i++) {
        if (queue_allows(queue, host_table_name(terminals->parts.hosts, i), "",
                         &preference)) {
            return false;
        }
    }
    for (int i = 0; i < consumer_count_hosts(terminals->parts.consumer); i++) {
        struct consumer_host host;
        consumer_host_at(terminals->parts.consumer, i, &host);
        if (queue_allows(queue, host.name, host.site, &preference)) {
            if (host.takes_interactive) {
                return false;
            }
            n_refused++;
        }
    }
    return n_refused > 0;
}

int terminals_check(const struct terminals *terminals, const struct queue_config *queue,
                    const struct job_spec *spec, struct err *err)
{
    int code = terminals_check_queue(queue, spec, err);
    if (code != 0 || spec->interaction == INTERACTION_NONE) {
        return code;
    }
    if (job_id_is_array_name(spec->name)) {
        return err_set(err, ERR_STATE,
                       "-I: an array cannot be interactive, its "
                       "elements would share one terminal");
    }
    if (spec->is_rerunnable) {
        return err_set(err, ERR_STATE,
                       "-I: an interactive job cannot be rerunnable, "
                       "expected it without -r");
    }
    if (is_refused(terminals, queue)) {
        return err_set(err, ERR_STATE,
                       "%s: all its hosts are borrowed, and their providers accept no "
                       "interactive jobs; see `sublet queues -l` for other queues",
                       queue->name);
    }
    if (terminals->count >= TERMINALS_MAX) {
        return err_set(
            err, ERR_FULL,
            "the site has %d interactive jobs and accepts no more; try again later",
            TERMINALS_MAX);
    }
    return 0;
}

static void add(struct terminals *terminals, const struct terminal *terminal)
{
    if (terminals->count == terminals->capacity) {
        terminals->capacity = terminals->capacity == 0 ? 8 : terminals->capacity * 2;
        terminals->items = mem_grow(terminals->items, (size_t)terminals->capacity,
                                    sizeof(*terminals->items));
    }
    terminals->items[terminals->count++] = *terminal;
}

void terminals_add(struct terminals *terminals, const struct job *job,
                   const struct peer *from)
{
    if (job->spec->interaction != INTERACTION_NONE) {
        add(terminals, &(struct terminal){.key = job_key(job),
                                          .link = from->link,
                                          .deadline_ms = INT64_MAX});
    }
}

void terminals_start(struct terminals *terminals, int64_t now_ms)
{
    for (int i = 0; i < job_table_count(terminals->parts.jobs); i++) {
        const struct job *job = job_table_at_const(terminals->parts.jobs, i);
        if (job->spec->interaction != INTERACTION_NONE && !job_is_ended(job)) {
            add(terminals,
                &(struct terminal){.key = job_key(job),
                                   .deadline_ms = now_ms + TERMINALS_PATIENCE_MS});
        }
    }
}

/* ---------------------------------------------------------------- the streams */

static struct terminal *find(const struct terminals *terminals, uint64_t key)
{
    for (int i = 0; i < terminals->count; i++) {
        if (terminals->items[i].key == key) {
            return &terminals->items[i];
        }
    }
    return NULL;
}

static bool has_begun(const struct job *job)
{
    return job->attempt != 0 && job->start_ms != 0 && job->state != JOB_PEND;
}

static bool is_borrowed(const struct job *job)
{
    return has_begun(job) && job->lease[0] != '\0';
}

static struct run_id run_id_of(const struct terminals *terminals, const struct job *job)
{
    return (struct run_id){.site = terminals->parts.site,
                           .attempt = job->attempt,
                           .nonce = job->submission->row->nonce};
}

/* The job's run on an own host that is connected; NULL: there is none now. */
static struct run *run_of(const struct terminals *terminals, const struct job *job)
{
    const struct run_id id = run_id_of(terminals, job);
    struct run *run = has_begun(job) ? runs_find(terminals->parts.runs, &id) : NULL;
    bool is_there = run != NULL && run->host >= 0 &&
                    host_table_is_ready(terminals->parts.hosts, run->host);
    return is_there ? run : NULL;
}

static void refuse(const struct peer *from, int code, const char *text,
                   struct effects *effects)
{
    struct msg msg = {.kind = MSG_ERROR, .site = ""};
    msg.error.code = code;
    msg.error.text = text;
    msg.error.about = MSG_STREAM_DOWN;
    effects_send(effects, from, &msg);
}

/* The terminal of the job, now connected with this user. NULL: the user may not connect
 * and was refused, or the job has ended, which is answered elsewhere. */
static struct terminal *connect_user(struct terminals *terminals,
                                     const struct peer *from, const struct job *job,
                                     struct effects *effects)
{
    struct terminal *terminal = find(terminals, job_key(job));
    if (job->spec->interaction == INTERACTION_NONE || from->uid != job->spec->uid) {
        refuse(from, ERR_DENIED,
               arena_printf(&effects->arena,
                            "Job <%s> is not an interactive one of yours",
                            job_id_text(&effects->arena, job->id, job->index)),
               effects);
        return NULL;
    }
    if (terminal == NULL || terminal->link == from->link) {
        return terminal;
    }
    if (terminal->link != 0) {
        refuse(from, ERR_EXISTS,
               arena_printf(&effects->arena, "Job <%s> has another terminal",
                            job_id_text(&effects->arena, job->id, job->index)),
               effects);
        return NULL;
    }
    terminal->link = from->link;
    terminal->deadline_ms = INT64_MAX;
    terminal->attempt = 0; /* so that the user is notified again */
    return terminal;
}

/* Input is sent to the job's host, or to the provider of a borrowed host; it is dropped
 * while that cannot be reached. */
static void pass_down(struct terminals *terminals, const struct job *job,
                      const struct msg_stream_down *down, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct run *run = run_of(terminals, job);
    struct msg msg = {.kind = MSG_STREAM_DOWN, .site = "", .stream_down = *down};
    if (run == NULL && !is_borrowed(job)) {
        return;
    }
    msg.stream_down.run = run_id_of(terminals, job);
    msg.stream_down.job = "";
    msg.stream_down.bytes = arena_copy(arena, down->bytes, (size_t)down->n_bytes);
    if (run != NULL) {
        host_table_send(terminals->parts.hosts, run->host, &msg, effects);
    } else {
        msg.site = arena_strn(arena, job->lease, strcspn(job->lease, "/"));
        site_uplink_send(terminals->parts.uplink, &msg, effects);
    }
}

void terminals_stream_down(struct terminals *terminals, const struct peer *from,
                           const struct msg_stream_down *down, struct effects *effects)
{
    const struct job *job = job_table_lookup_const(terminals->parts.jobs, down->job);
    if (job == NULL) {
        refuse(from, ERR_NOT_FOUND,
               arena_printf(&effects->arena, "Job <%s> is not found", down->job),
               effects);
        return;
    }
    struct terminal *terminal = connect_user(terminals, from, job, effects);
    if (terminal == NULL) {
        return;
    }
    if (down->run.attempt != job->attempt) {
        if (down->is_again) {
            terminal->attempt =
                0; /* the client does not know this attempt: notify it again */
        }
        return;
    }
    pass_down(terminals, job, down, effects);
}

static void tell(const struct terminal *terminal, const struct job *job,
                 const struct msg_stream_up *up, struct effects *effects)
{
    const struct peer to = {.kind = PEER_CLIENT, .name = "", .link = terminal->link};
    struct msg msg = {.kind = MSG_STREAM_UP, .site = "", .stream_up = *up};
    msg.stream_up.job = job_id_text(&effects->arena, job->id, job->index);
    effects_send(effects, &to, &msg);
}

void terminals_stream_up(struct terminals *terminals, int host,
                         const struct msg_stream_up *up, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct job *job =
        strcmp(up->run.site, terminals->parts.site) == 0
            ? job_table_find_attempt_const(terminals->parts.jobs, up->run.attempt)
            : NULL;
    const struct terminal *terminal =
        job != NULL ? find(terminals, job_key(job)) : NULL;
    if (terminal == NULL || terminal->link == 0) {
        return;
    }
    const struct run *run = run_of(terminals, job);
    bool is_from_there =
        host >= 0 ? run != NULL && run->host == host : is_borrowed(job);
    if (!is_from_there) {
        return;
    }
    struct msg_stream_up copy = *up;
    copy.run.site = arena_str(arena, up->run.site);
    copy.bytes = arena_copy(arena, up->bytes, (size_t)up->n_bytes);
    copy.note = "";
    tell(terminal, job, &copy, effects);
}

/* ---------------------------------------------------------------- ends */

bool terminals_take_gone(struct terminals *terminals, uint64_t link, uint64_t *key)
{
    for (int i = 0; i < terminals->count; i++) {
        if (link != 0 && terminals->items[i].link == link) {
            terminals->items[i].link = 0;
            *key = terminals->items[i].key;
            return true;
        }
    }
    return false;
}

bool terminals_take_late(struct terminals *terminals, int64_t now_ms, uint64_t *key)
{
    for (int i = 0; i < terminals->count; i++) {
        if (terminals->items[i].deadline_ms <= now_ms) {
            terminals->items[i].deadline_ms = INT64_MAX;
            *key = terminals->items[i].key;
            return true;
        }
    }
    return false;
}

/* ---------------------------------------------------------------- news */

static const char *note_of(const struct job *job, const struct terminal *terminal,
                           bool is_begun, bool is_cut, struct arena *arena)
{
    if (!is_begun && terminal->attempt != 0) {
        return arena_printf(arena, "<<Waiting again: %s>>",
                            job->reason[0] != '\0' ? job->reason : "it was requeued");
    }
    if (is_begun && terminal->attempt != job->attempt) {
        return arena_printf(arena, "<<Starting on %s>>", job->hosts[0].host);
    }
    if (is_cut != terminal->is_cut) {
        return is_cut ? "<<The broker cannot be reached: the session waits for it>>"
                      : "<<Connected again>>";
    }
    switch (job->state) {
    case JOB_USUSP:
        return "<<Stopped by a user>>";
    case JOB_SSUSP:
        return "<<Suspended: its slots are needed>>";
    case JOB_UNKWN:
        return is_borrowed(job) ? "<<Its provider does not answer>>"
                                : "<<Its host does not answer>>";
    case JOB_RUN:
        return "<<Running again>>";
    case JOB_PEND:
    case JOB_PSUSP:
    case JOB_DONE:
    case JOB_EXIT:
        break;
    }
    return "";
}

static void tell_note(const struct terminals *terminals,
                      const struct terminal *terminal, const struct job *job,
                      const char *note, struct effects *effects)
{
    const struct msg_stream_up up = {
        .run = {.site = terminals->parts.site,
                .attempt = has_begun(job) ? job->attempt : 0},
        .bytes = (const uint8_t *)"",
        .note = note,
    };
    tell(terminal, job, &up, effects);
}

static const char *recall_note(const struct job *job, int64_t now_ms,
                               struct arena *arena)
{
    if (job->recall_ms == 0) {
        return "<<Its slots are no longer recalled>>";
    }
    int64_t left_ms = job->recall_ms > now_ms ? job->recall_ms - now_ms : 0;
    return arena_printf(arena,
                        "<<Its slots are recalled: in %lld s it is ended, and waits "
                        "again>>",
                        (long long)((left_ms + 999) / 1000));
}

/* Tells the user that the lease is draining, or that the slots are recalled. */
static void tell_wishes(const struct terminals *terminals, struct terminal *terminal,
                        const struct job *job, int64_t now_ms, struct effects *effects)
{
    struct msg_contract contract;
    bool is_leased = has_begun(job) && is_borrowed(job);
    bool is_draining =
        is_leased &&
        consumer_find_contract(terminals->parts.consumer, job->lease, &contract) &&
        contract.state == LEASE_DRAINING;
    if (terminal->link == 0) {
        return;
    }
    if (is_leased && is_draining != terminal->is_draining) {
        tell_note(terminals, terminal, job,
                  is_draining
                      ? "<<Its lease is being drained: it keeps running, nothing new "
                        "starts there>>"
                      : "<<Its lease is no longer being drained>>",
                  effects);
    }
    if (is_leased && job->recall_ms != terminal->recall_ms) {
        tell_note(terminals, terminal, job, recall_note(job, now_ms, &effects->arena),
                  effects);
    }
    terminal->is_draining = is_draining;
    terminal->recall_ms = is_leased ? job->recall_ms : 0;
}

static void tell_news(const struct terminals *terminals, struct terminal *terminal,
                      const struct job *job, struct effects *effects)
{
    bool is_begun = has_begun(job);
    uint64_t attempt = is_begun ? job->attempt : 0;
    bool is_cut = is_borrowed(job) && !site_uplink_is_up(terminals->parts.uplink);
    bool is_news = terminal->attempt != attempt || terminal->is_cut != is_cut ||
                   (is_begun && terminal->state != job->state);
    if (terminal->link == 0 || !is_news) {
        return;
    }
    tell_note(terminals, terminal, job,
              note_of(job, terminal, is_begun, is_cut, &effects->arena), effects);
    terminal->attempt = attempt;
    terminal->state = job->state;
    terminal->is_cut = is_cut;
}

void terminals_tell_requeue(struct terminals *terminals, const struct job *job,
                            struct effects *effects)
{
    struct terminal *terminal = find(terminals, job_key(job));
    if (terminal != NULL) {
        tell_news(terminals, terminal, job, effects);
    }
}

void terminals_tick(struct terminals *terminals, int64_t now_ms,
                    struct effects *effects)
{
    int n_kept = 0;
    for (int i = 0; i < terminals->count; i++) {
        struct terminal *terminal = &terminals->items[i];
        const struct job *job =
            job_table_find_const(terminals->parts.jobs, terminal->key);
        if (job == NULL || job_is_ended(job)) {
            continue;
        }
        tell_news(terminals, terminal, job, effects);
        tell_wishes(terminals, terminal, job, now_ms, effects);
        terminals->items[n_kept++] = *terminal;
    }
    terminals->count = n_kept;
}

int64_t terminals_wake_ms(const struct terminals *terminals)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < terminals->count; i++) {
        int64_t deadline_ms = terminals->items[i].deadline_ms;
        wake_ms = deadline_ms < wake_ms ? deadline_ms : wake_ms;
    }
    return wake_ms;
}
