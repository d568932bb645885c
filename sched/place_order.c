/* SPDX-License-Identifier: Apache-2.0 */
/* place_order.c: see place_order.h. */
#include "sched/place_order.h"

static int compare_lines(const struct place_order *order, int a, int b)
{
    const struct place_snapshot *snapshot = order->snapshot;
    const struct place_line *left = &snapshot->lines[a], *right = &snapshot->lines[b];
    int left_priority = snapshot->queues[left->queue].priority;
    int right_priority = snapshot->queues[right->queue].priority;
    if (left_priority != right_priority) {
        return left_priority > right_priority ? -1 : 1;
    }
    if (left->queue != right->queue) {
        return left->queue < right->queue ? -1 : 1;
    }
    return line_compare(left->turns[order->next_turn[a]],
                        right->turns[order->next_turn[b]]);
}

static void sift_line(struct place_order *order, int at)
{
    int line = order->heap[at];
    for (int child; (child = 2 * at + 1) < order->n_heap; at = child) {
        if (child + 1 < order->n_heap &&
            compare_lines(order, order->heap[child + 1], order->heap[child]) < 0) {
            child++;
        }
        if (compare_lines(order, line, order->heap[child]) <= 0) {
            break;
        }
        order->heap[at] = order->heap[child];
    }
    order->heap[at] = line;
}

void place_order_init(struct place_order *order, struct arena *arena,
                      const struct place_snapshot *snapshot)
{
    size_t n_lines = (size_t)snapshot->n_lines;
    order->snapshot = snapshot;
    order->next_turn = arena_alloc(arena, n_lines, sizeof(int));
    order->heap = arena_alloc(arena, n_lines, sizeof(int));
    order->n_heap = snapshot->n_lines;
    for (int i = 0; i < order->n_heap; i++) {
        order->heap[i] = i;
    }
    for (int at = order->n_heap / 2 - 1; at >= 0; at--) {
        sift_line(order, at);
    }
}

int place_order_top(const struct place_order *order)
{
    return order->n_heap > 0 ? order->heap[0] : -1;
}

void place_order_drop(struct place_order *order)
{
    order->heap[0] = order->heap[--order->n_heap];
    if (order->n_heap > 0) {
        sift_line(order, 0);
    }
}

bool place_order_advance(struct place_order *order)
{
    int line = order->heap[0];
    if (++order->next_turn[line] == order->snapshot->lines[line].n_turns) {
        place_order_drop(order);
        return true;
    }
    sift_line(order, 0);
    return false;
}
