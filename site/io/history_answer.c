/* SPDX-License-Identifier: Apache-2.0 */
/* history_answer.c: see history_answer.h. A page of jobs has the last events of each; a
 * job that is asked for by its id has all that fit, an array some elements a page. */
#include "site/io/history_answer.h"

#include <inttypes.h>
#include <string.h>

#include "base/job_id.h"
#include "base/value.h"
#include "site/history_view.h"

enum {
    PAGE_JOBS = 100,    /* of a list */
    LISTED_EVENTS = 20, /* of a job in it */
    LISTED_READ = 500,  /* of those: what its times are summed up from */
    PAGE_EVENTS = 4000, /* of one job */
};

struct answer {
    struct journal *journal;
    const struct msg_query *query;
    struct history_view view;
    const char *next;
    struct err err;
};

/* "12", "12[3]", "12@south", behind "12[7]". */
static int read_asked(struct answer *answer, const char *name,
                      struct journal_asked *asked)
{
    struct arena *arena = answer->view.arena;
    const char *at = strchr(name, '@');
    const char *number =
        at != NULL ? arena_strn(arena, name, (size_t)(at - name)) : name;
    struct job_id id, after;
    int rc = job_id_read(arena, number, &id, &answer->err);
    if (rc < 0) {
        return rc;
    }
    *asked = (struct journal_asked){.site = at != NULL ? at + 1 : "",
                                    .id = id.number,
                                    .first = 1,
                                    .last = JOB_INDEX_MAX,
                                    .limit = PAGE_EVENTS};
    if (id.n_ranges > 0) {
        asked->first = id.ranges[0].first;
        asked->last = id.ranges[id.n_ranges - 1].last;
    }
    if (answer->query->after[0] != '\0' &&
        job_id_read(arena, answer->query->after, &after, NULL) == 0 &&
        after.n_ranges > 0 && after.ranges->first >= asked->first) {
        asked->first = after.ranges->first + 1;
    }
    return 0;
}

/* The last element's events may not all be there: it is the next page's. */
static int drop_last(const struct row_job_event *events, int n_events)
{
    int kept = n_events;
    while (kept > 0 && events[kept - 1].index == events[n_events - 1].index) {
        kept--;
    }
    return kept > 0 && events[kept - 1].index > 0 ? kept : n_events;
}

static int add_job(struct answer *answer, const struct journal_asked *asked, int *last,
                   bool *is_cut)
{
    struct row_job_event *events;
    int n_events;
    int rc = journal_read_history(answer->journal, asked, answer->view.arena, &events,
                                  &n_events, is_cut, &answer->err);
    if (rc == 0 && *is_cut) {
        n_events = drop_last(events, n_events);
    }
    *last = rc == 0 ? history_view_add(&answer->view, events, n_events) : 0;
    return rc;
}

static int answer_one(struct answer *answer)
{
    struct journal_asked asked;
    int last;
    bool is_cut;
    int rc = read_asked(answer, answer->query->name, &asked);
    if (rc == 0) {
        answer->view.shown_max = PAGE_EVENTS;
        rc = add_job(answer, &asked, &last, &is_cut);
    }
    if (rc == 0 && answer->view.rows->count == 0 && answer->query->after[0] == '\0') {
        rc = err_set(&answer->err, ERR_NOT_FOUND,
                     "nothing is on record of job <%s>: there was none, or what "
                     "happened to it is older than HISTORY_PERIOD",
                     answer->query->name);
    }
    if (rc == 0 && is_cut && last > 0) {
        answer->next = job_id_text(answer->view.arena, asked.id, last);
    }
    return rc;
}

/* Jobs that have not ended, as the site knows them. */
static int answer_keys(struct answer *answer, const uint64_t *keys, int n_keys)
{
    int rc = 0, last;
    bool is_cut;
    for (int i = 0; i < n_keys && rc == 0; i++) {
        int index = job_id_key_index(keys[i]);
        struct journal_asked asked = {.site = "",
                                      .id = job_id_key_number(keys[i]),
                                      .first = index,
                                      .last = index,
                                      .limit = LISTED_READ};
        rc = add_job(answer, &asked, &last, &is_cut);
    }
    return rc;
}

static int answer_all(struct answer *answer)
{
    struct arena *arena = answer->view.arena;
    struct job_id after = {.number = 0};
    uint64_t *ids;
    int n_ids, last;
    bool is_cut;
    if (answer->query->after[0] != '\0' &&
        job_id_read(arena, answer->query->after, &after, NULL) != 0) {
        after.number = 0;
    }
    int rc =
        journal_read_history_ids(answer->journal, answer->query->user, after.number,
                                 PAGE_JOBS, arena, &ids, &n_ids, &answer->err);
    for (int i = 0; i < n_ids && rc == 0; i++) {
        struct journal_asked asked = {.site = "",
                                      .id = ids[i],
                                      .first = 1,
                                      .last = JOB_INDEX_MAX,
                                      .limit = LISTED_READ};
        rc = add_job(answer, &asked, &last, &is_cut);
    }
    if (rc == 0 && n_ids == PAGE_JOBS) {
        answer->next = arena_printf(arena, "%" PRIu64, ids[n_ids - 1]);
    }
    return rc;
}

void history_answer(struct journal *journal, const struct effect *ask, int64_t now_ms,
                    struct effects *effects)
{
    const struct msg_query *query = &ask->history.query;
    struct arena *arena = &effects->arena;
    struct value *value = value_object(arena);
    struct peer to = ask->history.to;
    to.name = arena_str(arena, to.name);
    value_add_int(arena, value, "schema_version", 1);
    struct answer answer = {
        .journal = journal,
        .query = query,
        .view = {.arena = arena,
                 .rows = value_add(arena, value, "hist", value_array(arena)),
                 .now_ms = now_ms,
                 .shown_max = LISTED_EVENTS},
        .next = ""};
    int rc = query->name[0] != '\0' ? answer_one(&answer)
             : query->with_ended
                 ? answer_all(&answer)
                 : answer_keys(&answer, ask->history.keys, ask->history.n_keys);
    if (rc < 0) {
        effects_reply_error(effects, &to, query->request, rc, "%s", answer.err.text);
        return;
    }
    if (!query->with_ended && query->name[0] == '\0' && ask->history.has_more) {
        uint64_t key = ask->history.keys[ask->history.n_keys - 1];
        answer.next = job_id_text(arena, job_id_key_number(key), job_id_key_index(key));
    }
    effects_reply(effects, &to, query->request, "", value, answer.next);
}
