/* SPDX-License-Identifier: Apache-2.0 */
/* play_state.h: what the files that play a scenario share. play.c: the loop;
 * play_action_run.c: what a statement does; play_config_reload.c: other configurations;
 * play_config_resize_host.c: hosts that grow, shrink and go; play_expect.c: what an
 * expectation finds.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_PLAY_PLAY_STATE_H
#define SUBLET_SIM_PLAY_PLAY_STATE_H

#include "sim/play/event_log.h"
#include "sim/play/play.h"

/* The machines' clock at 0: a Sunday, 00:00 UTC. In some places they take an instant of
 * 0 for none, so that it cannot be that. */
#define PLAY_EPOCH_MS INT64_C(1672531200000) /* 2023-01-01T00:00:00Z */

/* A statement, or one job of a workload. */
struct play_action {
    int64_t at_ms;
    const struct statement *statement;
    int swf_job; /* index; -1: the statement itself */
};

struct play {
    const struct scenario *scenario;
    struct play_options options;
    struct arena arena;
    struct world *world;
    struct world_options faults; /* now */
    struct broker_config broker;
    struct site_config *sites;        /* as simulated */
    const struct site_config **given; /* as their files say now */
    struct event_log *story;
    struct summary *summary;
    struct play_action *deeds; /* by time, then line, then place in the trace */
    int n_deeds, next_deed;
    struct play_action *late; /* whose site was down, in order */
    int n_late, late_capacity;
    uint64_t *job_ids; /* of each submit statement; 0: not submitted (yet) */
    struct play_remark *first, *last;
    int n_failed;
};

/* False where the site is down: later, then. */
bool play_action_run(struct play *play, const struct play_action *deed);
bool play_config_resize_host(struct play *play, const struct statement *at);
/* How many slots the site has from now on. */
void play_config_count_slots(struct play *play, int site);
void play_config_reload(struct play *play, const struct statement *at);
/* What is simulated of a configuration. */
void play_config_site(struct play *play, int site, const struct site_config *given);
void play_config_broker(struct play *play, const struct broker_config *given);
void play_expect(struct play *play, const struct statement *statement);
void play_remark(struct play *play, int line, bool is_note, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The id of a named job or element as its site knows it ("12", "12[3]"); NULL: it is
 * not submitted (yet). */
const char *play_state_job_id(struct play *play, int site, const char *name,
                              struct arena *arena);

#endif
