/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm.c: see sim_slurm.h. */
#include "sim/slurm/sim_slurm.h"

#include <stdlib.h>
#include <string.h>

#include "sim/slurm/sim_slurm_command.h"

struct sim_slurm *sim_slurm_new(uint64_t seed, const char *partitions,
                                const struct sim_slurm_watch *watch, int64_t now_ms)
{
    struct sim_slurm *slurm = mem_alloc(1, sizeof(*slurm));
    slurm->now_ms = now_ms;
    slurm->is_up = true;
    slurm->min_job_age_ms = MIN_JOB_AGE_MS;
    slurm->back_ms = slurm->register_ms = SIM_SLURM_NEVER;
    slurm->schedule_ms = slurm->save_ms = SIM_SLURM_NEVER;
    slurm->books.next_job = slurm->saved.next_job = 1;
    rng_init(&slurm->rng, seed);
    arena_init(&slurm->arena);
    slurm->partitions = arena_str(&slurm->arena, partitions);
    if (watch != NULL) {
        slurm->watch = *watch;
    }
    return slurm;
}

void sim_slurm_free(struct sim_slurm *slurm)
{
    if (slurm != NULL) {
        sim_slurmctld_release(slurm);
        free(slurm);
    }
}

static int find_machine(const struct sim_slurm *slurm, const char *name)
{
    int index = 0;
    while (index < slurm->n_nodes && strcmp(slurm->nodes[index].name, name) != 0) {
        index++;
    }
    return index;
}

/* One that was deleted gives its place to a new one. */
static int find_place(const struct sim_slurm *slurm, const char *name)
{
    int index = find_machine(slurm, name);
    for (int i = 0; i < slurm->n_nodes && index == slurm->n_nodes; i++) {
        if (slurm->books.nodes[i].is_gone && slurm->saved.nodes[i].is_gone) {
            index = i;
        }
    }
    return index;
}

void sim_slurm_add_node(struct sim_slurm *slurm, const struct sim_slurm_node *node)
{
    int index = find_place(slurm, node->name);
    if (index == SIM_SLURM_NODES_MAX) {
        abort(); /* a caller's bug */
    }
    slurm->nodes[index] = (struct sim_slurm_node){
        .name = arena_str(&slurm->arena, node->name),
        .n_cpus = node->n_cpus,
        .mem_mib = node->mem_mib,
        .features = arena_str(&slurm->arena, node->features),
        .partitions = arena_str(&slurm->arena, node->partitions),
        .is_dynamic = node->is_dynamic};
    slurm->node_back_ms[index] = SIM_SLURM_NEVER;
    slurm->n_nodes += index == slurm->n_nodes;
    slurm->books.nodes[index] = slurm->saved.nodes[index] = (struct ctld_node){0};
    sim_slurmctld_changed(slurm);
}

void sim_slurm_advance(struct sim_slurm *slurm, int64_t now_ms)
{
    sim_slurmctld_advance(slurm, now_ms);
}

int64_t sim_slurm_next_ms(const struct sim_slurm *slurm)
{
    return sim_slurmctld_next_ms(slurm);
}

void sim_slurm_run(struct sim_slurm *slurm, const char *const *words,
                   struct arena *arena, struct sim_slurm_answer *answer)
{
    *answer = (struct sim_slurm_answer){.status = 0, .output = "", .error = ""};
    if (slurm->is_up) {
        sim_slurm_command_run(slurm, words, arena, answer);
        return;
    }
    answer->status = 1;
    answer->error =
        arena_str(arena, "Unable to contact slurm controller (connect failure)\n");
}

void sim_slurm_set_min_job_age(struct sim_slurm *slurm, int64_t min_job_age_ms)
{
    slurm->min_job_age_ms = min_job_age_ms;
}

void sim_slurm_set_saving(struct sim_slurm *slurm, bool is_saving)
{
    sim_slurmctld_save(slurm);
    slurm->is_unsaved = !is_saving;
    sim_slurmctld_changed(slurm);
}

void sim_slurm_kill(struct sim_slurm *slurm, int64_t down_ms, bool forgets)
{
    sim_slurmctld_kill(slurm, down_ms, forgets);
}

void sim_slurm_start(struct sim_slurm *slurm)
{
    if (!slurm->is_up) {
        slurm->back_ms = slurm->now_ms;
    }
}

void sim_slurm_fail_node(struct sim_slurm *slurm, const char *node, int64_t down_ms)
{
    int index = find_machine(slurm, node);
    if (index < slurm->n_nodes) {
        slurm->node_back_ms[index] = slurm->now_ms + down_ms;
        sim_slurmctld_clear_node(slurm, index);
    }
}

bool sim_slurm_is_up(const struct sim_slurm *slurm)
{
    return slurm->is_up;
}

int sim_slurm_count_used(const struct sim_slurm *slurm, const char *node,
                         const char *user)
{
    int count = 0;
    for (int i = 0; i < slurm->n_processes; i++) {
        const struct process *process = &slurm->processes[i];
        if (!process->is_dead && strcmp(process->script.node, node) == 0 &&
            (user == NULL || strcmp(process->script.user, user) == 0)) {
            count += process->script.n_cpus;
        }
    }
    return count;
}

const char *sim_slurm_overused(const struct sim_slurm *slurm)
{
    for (int i = 0; i < slurm->n_nodes; i++) {
        if (sim_slurm_count_used(slurm, slurm->nodes[i].name, NULL) >
            slurm->nodes[i].n_cpus) {
            return slurm->nodes[i].name;
        }
    }
    return NULL;
}
