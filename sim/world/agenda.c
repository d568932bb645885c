/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.c: a binary heap by time, then by the order of adding. */
#include "sim/world/agenda.h"

#include <stdlib.h>

enum { UNUSED_MAX = 32 }; /* batches whose memory is used again */

static bool is_before(const struct agenda_item *a, const struct agenda_item *b)
{
    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms;
    }
    return a->order < b->order;
}

struct sent *agenda_new_sent(struct agenda *agenda)
{
    struct sent *sent = agenda->unused;

    if (sent) {
        agenda->unused = sent->next;
        agenda->n_unused--;
    } else {
        sent = mem_alloc(1, sizeof *sent);
        effects_init(&sent->effects);
    }
    sent->n_users = 1;
    return sent;
}

static void free_sent(struct sent *sent)
{
    effects_release(&sent->effects);
    free(sent);
}

void agenda_release_sent(struct agenda *agenda, struct sent *sent)
{
    if (!sent || --sent->n_users > 0) {
        return;
    }
    if (agenda->n_unused == UNUSED_MAX) {
        free_sent(sent);
        return;
    }
    effects_clear(&sent->effects);
    sent->next = agenda->unused;
    agenda->unused = sent;
    agenda->n_unused++;
}

void agenda_release(struct agenda *agenda)
{
    for (int i = 0; i < agenda->count; i++) {
        agenda_release_sent(agenda, agenda->items[i].sent);
    }
    while (agenda->unused) {
        free_sent(agenda_new_sent(agenda));
    }
    free(agenda->items);
    *agenda = (struct agenda){0};
}

void agenda_add(struct agenda *agenda, struct agenda_item item)
{
    int i = agenda->count;

    if (agenda->count == agenda->capacity) {
        agenda->capacity = agenda->capacity ? 2 * agenda->capacity : 64;
        agenda->items =
            mem_grow(agenda->items, (size_t)agenda->capacity, sizeof agenda->items[0]);
    }
    item.order = agenda->next_order++;
    agenda->count++;
    for (; i > 0 && is_before(&item, &agenda->items[(i - 1) / 2]); i = (i - 1) / 2) {
        agenda->items[i] = agenda->items[(i - 1) / 2];
    }
    agenda->items[i] = item;
}

int64_t agenda_next_ms(const struct agenda *agenda)
{
    return agenda->count ? agenda->items[0].at_ms : INT64_MAX;
}

bool agenda_take(struct agenda *agenda, struct agenda_item *item)
{
    struct agenda_item *items = agenda->items;
    int i = 0;

    if (!agenda->count) {
        return false;
    }
    *item = items[0];
    const struct agenda_item *last = &items[--agenda->count];
    for (int next; (next = 2 * i + 1) < agenda->count; i = next) {
        if (next + 1 < agenda->count && is_before(&items[next + 1], &items[next])) {
            next++;
        }
        if (is_before(last, &items[next])) {
            break;
        }
        items[i] = items[next];
    }
    items[i] = *last;
    return true;
}
