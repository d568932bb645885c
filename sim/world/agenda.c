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

static void swap(struct agenda_item *a, struct agenda_item *b)
{
    struct agenda_item held = *a;

    *a = *b;
    *b = held;
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
    agenda->items[agenda->count++] = item;
    for (; i > 0 && is_before(&agenda->items[i], &agenda->items[(i - 1) / 2]);
         i = (i - 1) / 2) {
        swap(&agenda->items[i], &agenda->items[(i - 1) / 2]);
    }
}

int64_t agenda_next_ms(const struct agenda *agenda)
{
    return agenda->count ? agenda->items[0].at_ms : INT64_MAX;
}

bool agenda_take(struct agenda *agenda, struct agenda_item *item)
{
    int i = 0;

    if (!agenda->count) {
        return false;
    }
    *item = agenda->items[0];
    agenda->items[0] = agenda->items[--agenda->count];
    for (;;) {
        int least = i, left = 2 * i + 1, right = left + 1;

        if (left < agenda->count &&
            is_before(&agenda->items[left], &agenda->items[least])) {
            least = left;
        }
        if (right < agenda->count &&
            is_before(&agenda->items[right], &agenda->items[least])) {
            least = right;
        }
        if (least == i) {
            return true;
        }
        swap(&agenda->items[i], &agenda->items[least]);
        i = least;
    }
}
