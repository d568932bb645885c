/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_slurm.c: what Slurm's commands print: the first byte selects the command.
 * Accepted nodes have names and CPUs within bounds and are in order; what is refused
 * has an error text and leaves nothing. Jobs and reservations have nodes with names. A
 * name of ours is taken apart and put together. */
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_job.h"
#include "slurm/slurm_node.h"
#include "slurm/slurm_reservation.h"
#include "slurm/slurm_setting.h"
#include "tests/fuzz/input.h"

static void check_nodes(const struct slurm_nodes *nodes)
{
    for (int i = 0; i < nodes->count; i++) {
        const struct slurm_node *node = &nodes->items[i];
        if (conf_parse_name(node->name, NULL) != 0) {
            input_fail("\"%s\" is not a name", node->name);
        }
        if (i > 0 && strcmp(nodes->items[i - 1].name, node->name) >= 0) {
            input_fail("node \"%s\" is not in order", node->name);
        }
        if (node->used_cpus < 0 || node->used_cpus > node->cpus ||
            node->cpus > SLOTS_MAX || node->mem_mib < 0 ||
            node->mem_mib > SPACE_MAX_MIB) {
            input_fail("node \"%s\" is out of bounds", node->name);
        }
    }
}

static void take_nodes(struct arena *arena, const char *text)
{
    struct slurm_nodes nodes = {.count = -1};
    struct err err = {.text = ""};
    if (slurm_node_read(arena, text, &nodes, &err) == 0) {
        check_nodes(&nodes);
    } else if (nodes.count != -1 || err.text[0] == '\0') {
        input_fail("it is refused without a word, or half taken");
    }
}

static void take_settings(struct arena *arena, const char *text)
{
    struct slurm_setting settings[SLURM_SETTINGS];
    struct err err = {.text = ""};
    if (slurm_setting_read(arena, text, settings, &err) != 0) {
        if (err.text[0] == '\0') {
            input_fail("it is refused without a word");
        }
        return;
    }
    for (int i = 0; i < SLURM_SETTINGS; i++) {
        if ((settings[i].verdict == SLURM_VERDICT_OK) !=
            (settings[i].advice[0] == '\0')) {
            input_fail("%s has the wrong advice", settings[i].name);
        }
    }
}

static void check_names(const char *const *names, int n_names)
{
    for (int i = 0; i < n_names; i++) {
        if (conf_parse_name(names[i], NULL) != 0) {
            input_fail("\"%s\" is not a name", names[i]);
        }
    }
}

static void take_jobs(struct arena *arena, const char *text)
{
    struct slurm_jobs jobs = {.count = -1};
    struct err err = {.text = ""};
    if (slurm_job_read(arena, text, &jobs, &err) != 0 &&
        (jobs.count != -1 || err.text[0] == '\0')) {
        input_fail("jobs are refused without a word, or half taken");
    }
    for (int i = 0; i < jobs.count; i++) {
        const struct slurm_job *job = &jobs.items[i];
        check_names(job->nodes, job->n_nodes);
        if (job->n_nodes > 0 && !slurm_job_has_nodes(job)) {
            input_fail("job %lld waits or has ended, and has nodes",
                       (long long)job->id);
        }
        if (job->site != NULL &&
            slurm_job_find_run(&jobs, job->site, &job->run, job->user) == NULL) {
            input_fail("run %lld is not found again", (long long)job->id);
        }
    }
    if (jobs.count >= 0 && slurm_job_count_waiting(arena, &jobs, "", "north") < 0) {
        input_fail("a negative number of CPUs is waited for");
    }
}

static void take_reservations(struct arena *arena, const char *text)
{
    struct slurm_reservations found = {.count = -1};
    struct slurm_reservation_name name;
    struct err err = {.text = ""};
    if (slurm_reservation_read(arena, text, &found, &err) != 0 &&
        (found.count != -1 || err.text[0] == '\0')) {
        input_fail("reservations are refused without a word, or half taken");
    }
    for (int i = 0; i < found.count; i++) {
        const struct slurm_reservation *item = &found.items[i];
        check_names(item->nodes, item->n_nodes);
        if (slurm_reservation_parse_name(arena, item->name, &name) &&
            strcmp(slurm_reservation_format_name(arena, &name), item->name) != 0) {
            input_fail("\"%s\" is not put together again", item->name);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct arena arena;
    int command = input_byte(&input);
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)input.at, input.left);
    if (command == 'c') {
        take_settings(&arena, text);
    } else if (command == 'j') {
        take_jobs(&arena, text);
    } else if (command == 'r') {
        take_reservations(&arena, text);
    } else {
        take_nodes(&arena, text);
    }
    arena_release(&arena);
    return 0;
}
