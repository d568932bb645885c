/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_slurm.c: what Slurm's commands print: the first byte selects sinfo or scontrol.
 * Accepted nodes have names and CPUs within bounds and are in order; what is refused
 * has an error text and leaves nothing. */
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_node.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct arena arena;
    bool is_config = input_byte(&input) == 'c';
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)input.at, input.left);
    if (is_config) {
        take_settings(&arena, text);
    } else {
        take_nodes(&arena, text);
    }
    arena_release(&arena);
    return 0;
}
