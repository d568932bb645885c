/* SPDX-License-Identifier: Apache-2.0 */
/* asking.h: asks a provider for the STATE of a lease, until it answers.
 *
 * After a start, and after each session or silence of its provider, what the broker
 * knows of a lease may be old: nothing is judged until the provider has stated it.
 *
 * Units: milliseconds. Layer: broker (base only). */
#ifndef SUBLET_BROKER_ASKING_H
#define SUBLET_BROKER_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct lease;

struct asking {
    bool is_open; /* the answer is still to come */
    int64_t next_ms, wait_ms;
};

void asking_begin(struct lease *lease, int64_t now_ms);
void asking_end(struct lease *lease);

void asking_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t asking_wake_ms(const struct lease *lease);

#endif
