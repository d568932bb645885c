/* SPDX-License-Identifier: Apache-2.0 */
/* exec_step.c: see exec_step.h. */
#include "host/exec/exec_step.h"

#include <assert.h>

static void add(const struct exec_step *step, struct exec_effect effect)
{
    assert(step->effects->count < EXEC_EFFECTS_MAX);
    step->effects->list[step->effects->count++] = effect;
}

void exec_step_add_kind(const struct exec_step *step, enum exec_effect_kind kind)
{
    add(step, (struct exec_effect){.kind = kind});
}

void exec_step_add_signal(const struct exec_step *step, enum exec_effect_kind kind,
                          int signal)
{
    add(step, (struct exec_effect){.kind = kind, .signal = signal});
}

void exec_step_add_child(const struct exec_step *step, enum exec_effect_kind kind,
                         enum exec_child child)
{
    add(step, (struct exec_effect){
                  .kind = kind, .child = child, .control = step->run->side.control});
}

void exec_step_publish(const struct exec_step *step)
{
    step->run->save_ms = EXEC_NEVER;
    exec_step_add_kind(step, EXEC_PUBLISH);
}

bool exec_step_is_at_job(const struct exec_run *run)
{
    return run->stages.stage == STAGE_JOB;
}

void exec_step_open_gate(const struct exec_step *step)
{
    if (step->run->awaits_user) {
        step->run->awaits_user = false;
        exec_step_add_kind(step, EXEC_OPEN_GATE);
    }
}
