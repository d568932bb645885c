/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason_view.c: why a pending job does not run on borrowed hosts, lease by
 * lease; and how many hosts do not meet which part of its requirement. */
#include <string.h>

#include "site/ledger/site_ledger.h"
#include "site/pass/resreq_match.h"
#include "site/view/view_rows.h"

/* ---------------------------------------------------------------- by lease */

/* How many hosts of one lease the job could use. */
struct lease_hosts {
    int n_named;    /* in HOSTS of its queue */
    int n_asked;    /* of those, allowed by its -m */
    int n_avoided;  /* of those, excluded as the job has exited there (EXCLUDE) */
    int n_open;     /* of the others, available and not closed */
    int n_closed;   /* closed by an administrator of this site */
    int held, used; /* slots of the open ones */
    bool is_batch;  /* its provider takes no interactive jobs */
};

static void count_hosts(struct site_view *view, const struct job *job,
                        const struct msg_contract *contract, struct lease_hosts *hosts)
{
    const struct queue_config *queue = &view->config->queues[job->queue];
    const struct host_list *asked = host_list_cache_get(view->host_lists, job);
    for (int i = 0; i < consumer_count_hosts(view->consumer); i++) {
        struct consumer_host host;
        int preference;
        consumer_host_at(view->consumer, i, &host);
        if (strcmp(host.lease, contract->lease) != 0 ||
            !queue_allows(queue, host.name, host.site, &preference)) {
            continue;
        }
        hosts->n_named++;
        hosts->is_batch = !host.takes_interactive;
        if (asked != NULL &&
            !host_list_allows(asked, host.name, host.site, &preference)) {
            continue;
        }
        hosts->n_asked++;
        if (host_list_avoids(asked, host.name)) {
            hosts->n_avoided++;
            continue;
        }
        if (host_admin_is_closed(view->host_admin, host.name)) {
            hosts->n_closed++;
        } else if (!host.is_down) {
            hosts->n_open++;
            hosts->held += host.n_held;
            hosts->used += host.n_used;
        }
    }
}

/* Reasons that hold for every job. */
static const char *reason_of_contract(struct site_view *view,
                                      const struct msg_contract *contract)
{
    if (!site_uplink_is_up(view->uplink)) {
        return "the broker cannot be reached";
    }
    if (!contract->is_provider_here) {
        return "its provider is not connected";
    }
    if (contract->withheld != NULL) {
        return contract->withheld;
    }
    if (consumer_avoids(view->consumer, contract->lease)) {
        return "a job did not start there within START_TIMEOUT, and it is tried again "
               "after as long";
    }
    if (contract->state == LEASE_INACTIVE) {
        return "its slots are being moved";
    }
    if (contract->state == LEASE_DRAINING) {
        return "it is draining";
    }
    return contract->n_recalls > 0 ? "the pool is recalling slots of it" : NULL;
}

/* Reasons that hold for this job whatever the state of the lease. */
static const char *reason_of_job(struct arena *arena, const struct job *job,
                                 const struct lease_hosts *hosts)
{
    if (hosts->n_named == 0) {
        return arena_printf(arena, "HOSTS of queue <%s> has none of its hosts",
                            job_queue_name(job));
    }
    if (job_reads_file(job->spec)) {
        return "its input file (-i) is read on own hosts alone";
    }
    if (hosts->is_batch && job->spec->interaction != INTERACTION_NONE) {
        return "its provider accepts no interactive jobs";
    }
    if (hosts->n_asked == 0) {
        return "none of its hosts is in the job's host list (-m)";
    }
    if (hosts->n_asked == hosts->n_avoided) {
        return "it has exited on each of its hosts with a code of EXCLUDE";
    }
    return NULL;
}

/* What a job that needs more slots than the lease holds waits for. */
static const char *rebalance_text(struct site_view *view, struct arena *arena,
                                  const struct msg_contract *contract, int index)
{
    int64_t in_ms = consumer_rebalance_in_ms(view->consumer, index, view->now_ms);
    if (!contract->is_made) {
        return "; the lease is not made yet";
    }
    return in_ms < 0 ? ""
                     : arena_printf(arena, "; the next rebalance is in %lld s",
                                    (long long)((in_ms + 999) / 1000));
}

static const char *reason_of_hosts(struct site_view *view, struct arena *arena,
                                   const struct job *job,
                                   const struct msg_contract *contract, int index,
                                   const struct lease_hosts *hosts)
{
    if (hosts->n_open == 0) {
        return hosts->n_closed > 0 ? "its hosts are closed here, or down"
                                   : "its hosts are down, or closed by their provider";
    }
    int n_idle = hosts->held > hosts->used ? hosts->held - hosts->used : 0;
    if (n_idle < job->spec->n_slots) {
        return arena_printf(arena, "needs slots: %d, idle: %d of %d held%s",
                            job->spec->n_slots, n_idle, hosts->held,
                            hosts->held < job->spec->n_slots || !contract->is_made
                                ? rebalance_text(view, arena, contract, index)
                                : "");
    }
    const char *limit = job_class_verdict(job->pending_class)->limit;
    return limit != NULL ? arena_printf(arena, "it has room, but for limit %s", limit)
                         : "it may start with the next pass";
}

/* `index`: the contract's at the consumer. */
static const char *reason_of(struct site_view *view, struct arena *arena,
                             const struct job *job, const struct msg_contract *contract,
                             int index)
{
    struct lease_hosts hosts = {0};
    if (job->queue < 0) {
        return arena_printf(arena, "queue <%s> is not configured", job_queue_name(job));
    }
    count_hosts(view, job, contract, &hosts);
    /* Lasting reasons come before those that pass by themselves. */
    const char *reason = reason_of_job(arena, job, &hosts);
    if (reason == NULL) {
        reason = reason_of_contract(view, contract);
    }
    return reason != NULL ? reason
                          : reason_of_hosts(view, arena, job, contract, index, &hosts);
}

struct value *pending_reason_view_leases(struct site_view *view, struct arena *arena,
                                         const struct job *job)
{
    if (job->state != JOB_PEND || job->attempt != 0 || job->pending_class == NULL ||
        job_class_verdict(job->pending_class)->reason == REASON_UNMET ||
        queue_table_veto(view->queues, job->queue, view->local_ms) != REASON_NEW) {
        return NULL;
    }
    struct value *list = value_array(arena);
    for (int i = 0; i < consumer_count_contracts(view->consumer); i++) {
        struct msg_contract contract;
        if (!consumer_contract_at(view->consumer, i, &contract) ||
            contract.state == LEASE_ENDED) {
            continue;
        }
        struct value *item = value_add(arena, list, NULL, value_object(arena));
        value_add_text(arena, item, "lease", arena_str(arena, contract.lease));
        value_add_text(arena, item, "reason",
                       reason_of(view, arena, job, &contract, i));
    }
    return list;
}

/* ---------------------------------------------------------------- by requirement */

struct matching {
    struct site_view *view;
    struct arena *arena;
    const struct place_host *hosts;
    int n_hosts;
    struct resreq_match *match;
    const bool *is_allowed; /* by host */
    int n_allowed;
    bool names_type;
    struct value *list;
};

static void list_hosts(struct matching *matching, const struct job *job)
{
    struct site_view *view = matching->view;
    const struct host_list *asked = host_list_cache_get(view->host_lists, job);
    const struct queue_config *queue = &view->config->queues[job->queue];
    matching->hosts = capacity_hosts(view->capacity, matching->arena, view->local_ms,
                                     &matching->n_hosts);
    bool *is_allowed =
        arena_alloc(matching->arena, (size_t)matching->n_hosts, sizeof(*is_allowed));
    for (int i = 0; i < matching->n_hosts; i++) {
        const struct place_host *host = &matching->hosts[i];
        int preference;
        is_allowed[i] = queue_allows(queue, host->name, host->site, &preference) &&
                        !host_list_avoids(asked, host->name) &&
                        (asked == NULL ||
                         host_list_allows(asked, host->name, host->site, &preference));
        matching->n_allowed += is_allowed[i];
    }
    matching->is_allowed = is_allowed;
    struct rusage_pass *left =
        rusage_pass_new(view->rusage_sources, matching->arena, matching->hosts,
                        matching->n_hosts, view->event_ms);
    matching->match =
        resreq_match_new(view->resreq_cache, matching->arena, matching->hosts,
                         matching->n_hosts, left, NULL, view->local_ms);
    resreq_match_set_class(matching->match,
                           resreq_match_find(matching->match, job->queue, job->spec));
}

/* Counts the hosts that do not match `select`, and shows them under `shown`. */
static void match_part(struct matching *matching, const char *select, const char *shown)
{
    const struct place_filter *filter = NULL;
    struct err err;
    int n_unmet = 0;
    if (resreq_match_select(matching->match, RESREQ_MATCH_HOSTS, select, &filter,
                            &err) != 0 ||
        filter == NULL) {
        return; /* invalid under this configuration, or all hosts match */
    }
    for (int i = 0; i < matching->n_hosts; i++) {
        n_unmet += matching->is_allowed[i] && !filter->matches[i];
    }
    if (n_unmet > 0) {
        struct value *item = value_add(matching->arena, matching->list, NULL,
                                       value_object(matching->arena));
        value_add_text(matching->arena, item, "part", shown);
        value_add_int(matching->arena, item, "hosts", n_unmet);
        value_add_int(matching->arena, item, "of", matching->n_allowed);
    }
}

static void take_part(struct matching *matching, const char *text, int length)
{
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length > 0) {
        /* type==any, so that the type of the local host is not required as well. */
        const char *select =
            arena_printf(matching->arena, "select[(%.*s) && type==any]", length, text);
        match_part(matching, select, arena_strn(matching->arena, text, (size_t)length));
    }
}

/* Splits a selection at the outermost &&; with an outermost || it is one part. */
static void take_selection(struct matching *matching, struct resreq_lex lex)
{
    struct resreq_lex scan = lex;
    int depth = 0, begin = lex.at;
    bool is_one = false;
    for (struct lex_token token = resreq_lex_next(&scan);
         token.kind != LEX_END && token.kind != LEX_BAD;
         token = resreq_lex_next(&scan)) {
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        is_one = is_one || (depth == 0 && token.kind == LEX_OR);
        matching->names_type =
            matching->names_type ||
            (token.kind == LEX_NAME && token.place.length == (int)strlen("type") &&
             strncmp(lex.source + token.place.at, "type", strlen("type")) == 0);
    }
    scan = lex;
    depth = 0;
    for (struct lex_token token = resreq_lex_next(&scan);
         !is_one && token.kind != LEX_END && token.kind != LEX_BAD;
         token = resreq_lex_next(&scan)) {
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        if (depth == 0 && token.kind == LEX_AND) {
            take_part(matching, lex.source + begin, token.place.at - begin);
            begin = scan.at;
        }
    }
    take_part(matching, lex.source + begin, lex.end - begin);
}

static void take_string(struct matching *matching, const char *string)
{
    struct resreq_notes notes = {.arena = matching->arena};
    struct resreq_error fault;
    struct resreq_parts parts;
    if (string == NULL || string[0] == '\0' ||
        resreq_section_split(string, true, &parts, &notes, &fault) != 0) {
        return;
    }
    for (int i = 0; i < parts.count; i++) {
        if (parts.parts[i].section == RESREQ_SELECT) {
            take_selection(matching, parts.parts[i].content);
        }
    }
}

struct value *pending_reason_view_unmet(struct site_view *view, struct arena *arena,
                                        const struct job *job)
{
    if (job->state != JOB_PEND || job->pending_class == NULL || job->queue < 0 ||
        job_class_verdict(job->pending_class)->n_unmet == 0) {
        return NULL;
    }
    struct matching matching = {
        .view = view, .arena = arena, .list = value_array(arena)};
    const struct site_config *config = view->config;
    const struct application *app =
        application_find(config->applications, config->n_applications, job->spec->app);
    list_hosts(&matching, job);
    for (int i = 0; i < job->spec->n_res_reqs; i++) {
        take_string(&matching, job->spec->res_reqs[i]);
    }
    take_string(&matching, app != NULL ? app->res_req : NULL);
    take_string(&matching, config->queues[job->queue].res_req);
    if (!matching.names_type) {
        match_part(&matching, "select[type==local]", "type == local");
    }
    return matching.list->first != NULL ? matching.list : NULL;
}
