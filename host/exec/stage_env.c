/* SPDX-License-Identifier: Apache-2.0 */
/* stage_env.c: see stage_env.h. */
#include "host/exec/stage_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* PATH, LSB_JOBEXIT_STAT, LSB_JOBPEND, and PWD by who starts the command. */
enum { ADDED_MAX = 4 };

static bool is_replaced(const char *variable)
{
    return strncmp(variable, "PATH=", 5) == 0 ||
           strncmp(variable, "LSB_JOBEXIT_STAT=", 17) == 0 ||
           strncmp(variable, "LSB_JOBPEND=", 12) == 0;
}

/* The job's exit code is one of those for which it waits again. */
static bool is_requeued(const struct stages *course)
{
    static const char name[] = "LSB_EXIT_REQUEUE=";
    if (course->end != RUN_END_EXITED || course->is_ended_by_order) {
        return false;
    }
    for (int i = 0; course->spec->env[i] != NULL; i++) {
        const char *at = course->spec->env[i];
        char *end = NULL;
        if (strncmp(at, name, sizeof(name) - 1) != 0) {
            continue;
        }
        for (at += sizeof(name) - 1; *at != '\0'; at = end) {
            long code = strtol(at, &end, 10);
            if (end == at) {
                return false;
            }
            if (code == course->code) {
                return true;
            }
        }
    }
    return false;
}

void stage_env_init(struct stage_env *env, const struct stages *course)
{
    int n_given = 0, count = 0;
    while (course->spec->env[n_given] != NULL) { /* its mark stands behind n_env */
        n_given++;
    }
    env->list = mem_alloc((size_t)n_given + ADDED_MAX + 1, sizeof(*env->list));
    for (int i = 0; i < n_given; i++) {
        if (!is_replaced(course->spec->env[i])) {
            env->list[count++] = course->spec->env[i];
        }
    }
    env->list[count++] = "PATH=/bin:/usr/bin:/sbin:/usr/sbin";
    if (course->stage == STAGE_POST_EXEC) {
        snprintf(env->status, sizeof(env->status), "LSB_JOBEXIT_STAT=%d",
                 course->status);
        env->list[count++] = env->status;
    }
    if (course->stage == STAGE_POST_EXEC &&
        (course->cause == RUN_CAUSE_PRE_EXEC || is_requeued(course))) {
        env->list[count++] = "LSB_JOBPEND=1";
    }
}

void stage_env_release(struct stage_env *env)
{
    free(env->list);
    env->list = NULL;
}
