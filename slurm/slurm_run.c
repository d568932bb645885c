/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_run.c: see slurm_run.h. */
#include "slurm/slurm_run.h"

#include "slurm/slurm_job.h"

const char *const *slurm_run_submit_command(struct arena *arena,
                                            const struct slurm_run_order *order)
{
    const char **words = arena_alloc(arena, 24, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "sbatch";
    words[n_words++] = "--parsable";
    words[n_words++] = "--no-requeue";
    words[n_words++] = "--export=NIL";
    words[n_words++] = "--chdir=/";
    words[n_words++] = "--job-name=sublet";
    words[n_words++] = order->limit_min > 0 ? arena_printf(arena, "--time=%lld",
                                                           (long long)order->limit_min)
                                            : "--time=UNLIMITED";
    words[n_words++] = "--nodes=1";
    words[n_words++] = "--ntasks=1";
    words[n_words++] = arena_printf(arena, "--cpus-per-task=%d", order->n_slots);
    words[n_words++] = arena_printf(arena, "--nodelist=%s", order->node);
    words[n_words++] = arena_printf(arena, "--reservation=%s", order->reservation);
    if (order->user[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--uid=%s", order->user);
        words[n_words++] = arena_printf(arena, "--gid=%s", order->group);
    }
    if (order->mem_mib > 0) {
        words[n_words++] =
            arena_printf(arena, "--mem=%lldM", (long long)order->mem_mib);
    }
    words[n_words++] = arena_printf(arena, "--output=%s", order->output);
    words[n_words++] = arena_printf(arena, "--error=%s", order->error);
    words[n_words++] =
        arena_printf(arena, "--comment=%s",
                     slurm_job_format_comment(arena, order->site, &order->run));
    if (order->partition[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--partition=%s", order->partition);
    }
    if (order->account[0] != '\0') {
        words[n_words++] = arena_printf(arena, "--account=%s", order->account);
    }
    words[n_words++] = order->script;
    return words;
}

const char *const *slurm_run_signal_command(struct arena *arena, int64_t job_id,
                                            const char *name)
{
    const char **words = arena_alloc(arena, 5, sizeof(*words));
    words[0] = "scancel";
    words[1] = "--full";
    words[2] = arena_printf(arena, "--signal=%s", name);
    words[3] = arena_printf(arena, "%lld", (long long)job_id);
    return words;
}

const char *const *slurm_run_kill_command(struct arena *arena, int64_t job_id)
{
    const char **words = arena_alloc(arena, 3, sizeof(*words));
    words[0] = "scancel";
    words[1] = arena_printf(arena, "%lld", (long long)job_id);
    return words;
}
