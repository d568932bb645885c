/* SPDX-License-Identifier: Apache-2.0 */
/* class_snapshot.c: see class_snapshot.h. */
#include "site/pass/class_snapshot.h"

#include <limits.h>
#include <stdlib.h>

#include "site/job/submission.h"

/* Whose first job the line of the same index shows. */
struct card {
    uint64_t number; /* line_head's; 0: nobody's yet */
    const struct job *first;
    struct match_class *need; /* NULL: not looked for yet */
    bool has_words;  /* -m, hosts that it avoids, -R or an application: more than its
  queue to look at */
    bool is_limited; /* of an array that may have so many open jobs */
};

/* What all lines of a queue have in common, but those with words of their own. */
struct queue_terms {
    bool is_known;
    enum pending_reason veto;
    const struct place_filter *filter;
    const struct rusage_request *asks;
    int n_asks;
};

struct class_snapshot {
    const struct resreq_match *needs; /* whose the cards' needs are ... */
    uint64_t resreq_match_generation; /* ... and of when */
    struct card *cards;
    struct place_class *lines;
    int capacity;
};

struct class_snapshot *class_snapshot_new(void)
{
    return mem_alloc(1, sizeof(struct class_snapshot));
}

void class_snapshot_free(struct class_snapshot *shown)
{
    if (shown == NULL) {
        return;
    }
    free(shown->cards);
    free(shown->lines);
    free(shown);
}

static void make_room(struct class_snapshot *shown, int n_lines)
{
    int capacity = shown->capacity == 0 ? 8 : shown->capacity;
    if (n_lines <= shown->capacity) {
        return;
    }
    while (capacity < n_lines) {
        capacity *= 2;
    }
    shown->cards = mem_grow(shown->cards, (size_t)capacity, sizeof(*shown->cards));
    shown->lines = mem_grow(shown->lines, (size_t)capacity, sizeof(*shown->lines));
    for (int i = shown->capacity; i < capacity; i++) {
        shown->cards[i].number = 0;
    }
    shown->capacity = capacity;
}

/* What does not change while that job is the first: it leaves its line before anything
 * of it changes (job_parts.h). */
static void read_first(struct card *card, struct place_class *line,
                       const struct job_class_view *head,
                       const struct queue_config *queues)
{
    const struct job *first = job_of_entry(head->entries[0]);
    const struct reservation_config *reserve = &queues[first->queue].reservation;
    const struct job_spec *spec = first->spec;
    card->number = head->generation;
    card->first = first;
    card->need = NULL;
    card->has_words = spec->n_hosts_asked > 0 || spec->n_res_reqs > 0 ||
                      first->avoided != NULL ||
                      (spec->app != NULL && spec->app[0] != '\0');
    card->is_limited = first->submission->max_open > 0;
    *line = (struct place_class){
        .queue = first->queue,
        .account = first->seat.account,
        .n_slots = spec->n_slots,
        .max_slots = first->terms->max_slots,
        .is_exclusive = spec->is_exclusive,
        .scope = job_reads_file(spec)                    ? HOST_SCOPE_OWN
                 : spec->interaction != INTERACTION_NONE ? HOST_SCOPE_INTERACTIVE
                                                         : HOST_SCOPE_ANY,
        .limit_class = limits_have_any(first->class) ? first->class : NULL,
        .max_starts = INT_MAX,
        .app = spec->app,
        .waiting_since_ms = first->submit_ms,
        .backfill_ms = reserve->is_backfill ? spec->run_limit_ms : 0,
        .backfill_slice_ms = reserve->backfill_slice_ms,
    };
}

/* `first`: of a line of the queue that has no words of its own. */
static const struct queue_terms *terms_of(struct queue_terms *all,
                                          const struct pass_terms *from,
                                          const struct job *first)
{
    struct queue_terms *terms = &all[first->queue];
    if (!terms->is_known) {
        terms->is_known = true;
        terms->veto = queue_table_veto(from->queues, first->queue, from->local_ms);
        struct match_class *need =
            resreq_match_find(from->needs, first->queue, first->spec);
        terms->filter = resreq_match_filter(from->needs, need);
        terms->asks = resreq_match_rusages(from->needs, need, &terms->n_asks);
    }
    return terms;
}

static void forget_old_needs(struct class_snapshot *shown,
                             const struct resreq_match *needs)
{
    if (shown->needs == needs &&
        shown->resreq_match_generation == resreq_match_generation(needs)) {
        return;
    }
    shown->needs = needs;
    shown->resreq_match_generation = resreq_match_generation(needs);
    for (int i = 0; i < shown->capacity; i++) {
        shown->cards[i].need = NULL;
    }
}

static void read_words(struct card *card, struct place_class *line,
                       const struct pass_terms *from)
{
    const struct job *first = card->first;
    if (card->need == NULL) {
        card->need = resreq_match_find(from->needs, first->queue, first->spec);
    }
    line->veto = queue_table_veto(from->queues, first->queue, from->local_ms);
    line->host_list = host_list_cache_get(from->asked_lists, first);
    line->filter = resreq_match_filter(from->needs, card->need);
    line->rusages = resreq_match_rusages(from->needs, card->need, &line->n_rusages);
}

const struct place_class *class_snapshot_update(struct class_snapshot *shown,
                                                const struct job_table *jobs,
                                                const struct site_config *config,
                                                const struct pass_terms *terms,
                                                struct arena *arena, int *n_lines)
{
    const struct job_class_set *all = job_table_classes(jobs);
    const struct job_class_view *heads = job_class_set_views(all);
    struct queue_terms *queues =
        arena_alloc(arena, (size_t)config->n_queues, sizeof(*queues));
    *n_lines = job_class_set_count(all);
    make_room(shown, *n_lines);
    forget_old_needs(shown, terms->needs);
    host_list_cache_begin_pass(terms->asked_lists);
    for (int i = 0; i < *n_lines; i++) {
        struct card *card = &shown->cards[i];
        struct place_class *line = &shown->lines[i];
        if (card->number != heads[i].generation) {
            read_first(card, line, &heads[i], config->queues);
        }
        line->entries = heads[i].entries;
        line->n_entries = heads[i].n_entries;
        if (card->is_limited) {
            line->max_starts = job_array_room(card->first);
        }
        if (card->has_words) {
            read_words(card, line, terms);
            continue;
        }
        const struct queue_terms *of_queue = queues[line->queue].is_known
                                                 ? &queues[line->queue]
                                                 : terms_of(queues, terms, card->first);
        line->veto = of_queue->veto;
        line->filter = of_queue->filter;
        line->rusages = of_queue->asks;
        line->n_rusages = of_queue->n_asks;
    }
    return shown->lines;
}
