/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h: moves the idle slots of one lease from one side to the other, the
 * broker's half [Contract 1-3].
 *
 *   1  begin      [disk] the lease is inactive; FREEZE under a new number, again every
 *                 500 ms
 *   2  frozen     STATE of our epoch, frozen under our number: those counts are exact.
 *                 Decide, PROPOSE the split, again every 500 ms; the old split where
 *                 nothing moves
 *   3  settled    STATE with a higher epoch: that is the contract now;
 *                 or STATE thawed under our epoch and number after a proposal to move
 *                 nothing: active as before
 *      lapsed     any other STATE that is not frozen under our number: back to 1, with
 * a number above the one it names
 *
 * Nothing here needs memory: a restarted broker finds the lease inactive and begins at
 * 1, whatever its predecessor had sent. A provider that is away leaves the lease
 * inactive until it is back; no other lease waits for it. That slots are never used
 * twice does not rest on the broker: it only proposes, the provider judges
 * (ARCHITECTURE 2).
 *
 * Units: milliseconds. Layer: broker (base only). */
#ifndef SUBLET_BROKER_LEASE_HANDOVER_H
#define SUBLET_BROKER_LEASE_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct lease;

enum handover_phase { HANDOVER_NONE, HANDOVER_FREEZING, HANDOVER_PROPOSING };

struct handover {
    enum handover_phase phase;
    uint64_t freeze; /* our number; grows for as long as this broker runs */
    int64_t next_ms; /* of sending again */
    struct host_split *proposal;
    int n_proposal;
    bool is_moving; /* the proposal differs from the split in force */
    char reason[REASON_SIZE];
};

/* A STATE named this freeze number: ours will be above it. */
void handover_see(struct lease *lease, uint64_t freeze);

/* The lease, which is active, becomes inactive. */
void handover_begin(struct lease *lease, const char *reason, int64_t now_ms,
                    struct effects *effects);
/* A lease that the disk has as inactive: on from 1. */
void handover_resume(struct lease *lease, int64_t now_ms);

/* STATE of the epoch that we know, whose counts the lease has taken over already. */
void handover_on_state(struct lease *lease, const struct msg_state *state,
                       int64_t now_ms, struct effects *effects);
/* The reason of a split under the next epoch: the proposal's where it is the one that
 * was proposed, else `otherwise`. Before the new split is taken over. */
const char *handover_reason(const struct lease *lease, const struct msg_state *state,
                            const char *otherwise);
/* It is over, whatever the outcome. */
void handover_end(struct lease *lease);
void handover_release(struct lease *lease);

void handover_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t handover_wake_ms(const struct lease *lease);

#endif
