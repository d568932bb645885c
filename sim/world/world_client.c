/* SPDX-License-Identifier: Apache-2.0 */
/* world_client.c: requests of users and administrators to daemons, and their answers.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sim/world/world_daemon.h"

/* Passes the answers among the effects of the step to `fn`. */
static void find_answers(const struct effects *effects, int from, world_answer_fn fn,
                         void *arg)
{
    for (int i = from; fn && i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];

        if (effect->kind == EFFECT_SEND && effect->send.to.kind == PEER_CLIENT &&
            effect->send.msg.kind == MSG_REPLY) {
            fn(arg, &effect->send.msg.reply);
        }
    }
}

bool world_client_ask(struct world *world, int site, const char *user,
                      const struct msg *msg, world_answer_fn on_answer, void *arg)
{
    struct event event = world_daemon_client_event(world, user, msg);

    if (!world_state_is_up(world, site + 1)) {
        return false;
    }
    const struct effects *effects = world_state_effects(world, site + 1);
    int from = effects->count;
    world_daemon_step(world, site + 1, &event);
    find_answers(effects, from, on_answer, arg);
    world_daemon_bound_batch(world, site + 1);
    return true;
}

bool world_client_control(struct world *world, int site, uint64_t job, int index,
                          enum control_action action)
{
    struct msg msg = {.kind = MSG_JOB_CONTROL, .site = ""};
    char id[40];
    const char *jobs[] = {id};

    snprintf(id, sizeof id, index ? "%" PRIu64 "[%d]" : "%" PRIu64, job, index);
    msg.job_control = (struct msg_job_control){
        .request = 1, .action = action, .signal = 15, .jobs = jobs, .n_jobs = 1};
    return world_client_ask(world, site, "ana", &msg, NULL, NULL);
}
