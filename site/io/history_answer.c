/* SPDX-License-Identifier: Apache-2.0 */
/* history_answer.c: see history_answer.h. A page of jobs has the last events of each; a
 * job that is asked for by its id has all that fit, an array some elements a page. */
#include "site/io/history_answer.h"

#include <inttypes.h>
#include <string.h>

#include "model/job_id.h"
#include "site/view/site_view.h"
#include "sys/daemon.h"

enum {
    PAGE_JOBS = 100,    /* that are looked at for one page */
    LISTED_READ = 500,  /* events of one of those: what its times are summed up from */
    PAGE_EVENTS = 4000, /* of a job that is asked for */
};

struct answer {
    struct journal *journal;
    const struct msg_query *query;
    struct job_id after; /* number 0: from the first */
    struct page page;
    struct history_view view;
    struct err err;
};

/* "12", "12[3]", "12@south", behind "12[7]". */
static int read_asked(struct answer *answer, const char *name,
                      struct journal_asked *asked)
{
    struct arena *arena = answer->page.arena;
    const char *at = strchr(name, '@');
    const char *number =
        at != NULL ? arena_strn(arena, name, (size_t)(at - name)) : name;
    const struct job_id *after = &answer->after;
    struct job_id id;
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
    if (after->n_ranges > 0 && after->ranges->first >= asked->first) {
        asked->first = after->ranges->first + 1;
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

static int add_job(struct answer *answer, const struct journal_asked *asked)
{
    struct row_job_event *events;
    int n_events;
    bool is_cut;
    int rc = journal_read_history(answer->journal, asked, answer->page.arena, &events,
                                  &n_events, &is_cut, &answer->err);
    if (rc == 0) {
        n_events = is_cut ? drop_last(events, n_events) : n_events;
        history_view_add(&answer->view, events, n_events);
        answer->page.is_full = answer->page.is_full || is_cut;
    }
    return rc;
}

static int answer_one(struct answer *answer)
{
    struct journal_asked asked;
    int rc = read_asked(answer, answer->query->name, &asked);
    if (rc == 0) {
        answer->view.shown_max = HISTORY_VIEW_EVENTS;
        answer->view.index = asked.first == asked.last ? asked.first : 0;
        rc = add_job(answer, &asked);
    }
    if (rc == 0 && answer->page.rows->count == 0 && answer->after.number == 0) {
        rc = err_set(&answer->err, ERR_NOT_FOUND,
                     "there is no record of job <%s>: it never existed, or its events "
                     "are older than HISTORY_PERIOD",
                     answer->query->name);
    }
    return rc;
}

/* Jobs that have not ended, as the site knows them. */
static int answer_keys(struct answer *answer, const struct effect *ask)
{
    int rc = 0;
    for (int i = 0; i < ask->history.n_keys && rc == 0 && !answer->page.is_full; i++) {
        uint64_t key = ask->history.keys[i];
        int index = job_id_key_index(key);
        struct journal_asked asked = {.site = "",
                                      .id = job_id_key_number(key),
                                      .first = index,
                                      .last = index,
                                      .limit = LISTED_READ};
        answer->view.index = index;
        rc = add_job(answer, &asked);
    }
    if (ask->history.has_more && !answer->page.is_full) {
        uint64_t last = ask->history.keys[ask->history.n_keys - 1];
        answer->page.is_full = true;
        answer->page.last = job_id_text(answer->page.arena, job_id_key_number(last),
                                        job_id_key_index(last));
    }
    return rc;
}

static int answer_all(struct answer *answer)
{
    uint64_t from = answer->after.number; /* more of its elements may be to come */
    uint64_t *ids;
    int n_ids;
    int rc = journal_read_history_ids(answer->journal, answer->query->user,
                                      from > 0 ? from - 1 : 0, PAGE_JOBS,
                                      answer->page.arena, &ids, &n_ids, &answer->err);
    for (int i = 0; i < n_ids && rc == 0 && !answer->page.is_full; i++) {
        struct journal_asked asked = {.site = "",
                                      .id = ids[i],
                                      .first = 1,
                                      .last = JOB_INDEX_MAX,
                                      .limit = LISTED_READ};
        if (ids[i] == from && answer->after.n_ranges > 0) {
            asked.first = answer->after.ranges->first + 1;
        }
        rc = add_job(answer, &asked);
    }
    if (rc == 0 && n_ids == PAGE_JOBS && !answer->page.is_full) {
        answer->page.is_full = true;
        answer->page.last =
            arena_printf(answer->page.arena, "%" PRIu64, ids[n_ids - 1]);
    }
    return rc;
}

void history_answer(struct journal *journal, struct effect *ask, struct effects *more)
{
    const struct msg_query *query = &ask->history.query;
    struct arena *arena = &more->arena;
    struct answer answer = {.journal = journal, .query = query};
    struct peer to = ask->history.to;
    to.name = arena_str(arena, to.name);
    page_init(&answer.page, arena, "hist", query);
    answer.page.after = 0;
    if (job_id_read(arena, query->after, &answer.after, NULL) == 0) {
        answer.page.after =
            job_id_key(answer.after.number,
                       answer.after.n_ranges > 0 ? answer.after.ranges->first : 0);
    } else {
        answer.after = (struct job_id){.number = 0};
    }
    answer.view = (struct history_view){.page = &answer.page,
                                        .now_ms = daemon_now_ms(),
                                        .shown_max = HISTORY_VIEW_LISTED};
    int rc = query->name[0] != '\0' ? answer_one(&answer)
             : query->with_ended    ? answer_all(&answer)
                                    : answer_keys(&answer, ask);
    if (rc < 0) {
        effects_reply_error(more, &to, query->request, rc, "%s", answer.err.text);
        return;
    }
    effects_reply(more, &to, query->request, "", answer.page.root,
                  page_next(&answer.page));
}
