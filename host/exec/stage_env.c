/* SPDX-License-Identifier: Apache-2.0 */
/* stage_env.c: see exec.h. */
#include "host/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* PATH, LSB_JOBEXIT_STAT, LSB_JOBPEND, and PWD, which launch.c sets. */
enum { ADDED_MAX = 4 };

static bool is_replaced(const char *variable)
{
    return strncmp(variable, "PATH=", 5) == 0 ||
           strncmp(variable, "LSB_JOBEXIT_STAT=", 17) == 0 ||
           strncmp(variable, "LSB_JOBPEND=", 12) == 0;
}

/* The job's exit code is one of its REQUEUE_EXIT_VALUES. */
static bool is_requeued(const struct stages *stages)
{
    static const char name[] = "LSB_EXIT_REQUEUE=";
    if (stages->end != RUN_END_EXITED || stages->is_killed) {
        return false;
    }
    for (int i = 0; stages->spec->env[i] != NULL; i++) {
        const char *at = stages->spec->env[i];
        char *end = NULL;
        if (strncmp(at, name, sizeof(name) - 1) != 0) {
            continue;
        }
        for (at += sizeof(name) - 1; *at != '\0'; at = end) {
            long code = strtol(at, &end, 10);
            if (end == at) {
                return false;
            }
            if (code == stages->code) {
                return true;
            }
        }
    }
    return false;
}

void stage_env_init(struct stage_env *env, const struct stages *stages)
{
    int n_given = 0, count = 0;
    while (stages->spec->env[n_given] != NULL) { /* the mark is behind n_env */
        n_given++;
    }
    env->list = mem_alloc((size_t)n_given + ADDED_MAX + 1, sizeof(*env->list));
    for (int i = 0; i < n_given; i++) {
        if (!is_replaced(stages->spec->env[i])) {
            env->list[count++] = stages->spec->env[i];
        }
    }
    env->list[count++] = "PATH=/bin:/usr/bin:/sbin:/usr/sbin";
    if (stages->stage == STAGE_POST_EXEC) {
        snprintf(env->status, sizeof(env->status), "LSB_JOBEXIT_STAT=%d",
                 stages->status);
        env->list[count++] = env->status;
    }
    if (stages->stage == STAGE_POST_EXEC &&
        ((stages->cause == RUN_CAUSE_PRE_EXEC && stages->code != STAGE_PRE_ABORT) ||
         is_requeued(stages))) {
        env->list[count++] = "LSB_JOBPEND=1";
    }
}

void stage_env_release(struct stage_env *env)
{
    free(env->list);
    env->list = NULL;
}
