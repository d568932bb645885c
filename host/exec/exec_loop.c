/* SPDX-License-Identifier: Apache-2.0 */
/* exec_loop.c: see exec.h. */
#include "host/exec/exec.h"

enum { ANSWERS_MAX = 8 }; /* a step has two effects with an answer at most */

void exec_loop_run(struct exec_run *run, const struct exec_event *event,
                   const struct exec_executor *executor)
{
    struct exec_event events[ANSWERS_MAX] = {*event};
    struct err errs[ANSWERS_MAX];
    for (int at = 0, count = 1; at < count; at++) {
        struct exec_effects effects;
        const struct exec_event *now = &events[at % ANSWERS_MAX];
        exec_run_step(run, now, executor->now_ms(executor->arg), &effects);
        executor->on_step(executor->arg, now, &effects);
        for (int i = 0; i < effects.count; i++) {
            struct exec_event *answer = &events[count % ANSWERS_MAX];
            struct err *err = &errs[count % ANSWERS_MAX];
            *answer = (struct exec_event){0};
            err->text[0] = '\0';
            count += executor->carry_out(executor->arg, &effects.list[i], err, answer);
        }
    }
}
