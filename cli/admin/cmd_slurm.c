/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_slurm.c: `sublet slurm`: looks at a Slurm cluster as a lease of its nodes would.
 * Asks slurmctld once, by Slurm's own commands, and changes nothing. */
#include <string.h>

#include "base/conf/conf.h"
#include "cli/commands.h"
#include "cli/listing/listing.h"
#include "slurm/io/slurm_child.h"
#include "slurm/slurm_node.h"
#include "slurm/slurm_setting.h"

enum { WITHIN_MS = 30000 }; /* slurmctld may be slow: its commands retry for 10 s */

const struct call_option cmd_slurm_options[] = {
    {"--conf", "FILE", "Slurm's configuration; default: SLURM_CONF, or Slurm's own",
     false},
    {"--bin", "DIR", "where sinfo and scontrol are; default: PATH", false},
    {"--partition", "NAME", "nodes: those of this partition", false},
    {NULL, NULL, NULL, false},
};

/* ERR_... and the answer in the call's arena. */
static int ask(struct call *call, const char *const *words, const char **text,
               struct err *err)
{
    const struct slurm_child_place place = {.bin = call_text(call, "--bin"),
                                            .conf = call_text(call, "--conf"),
                                            .within_ms = WITHIN_MS};
    return slurm_child_run(&place, words, &call->arena, text, err);
}

static void begin_listing(struct listing *listing, const char *name)
{
    listing->object = json_object();
    listing->rows = json_array();
    json_object_set_new(listing->object, "schema_version", json_integer(1));
    json_object_set_new(listing->object, name, listing->rows);
}

/* null if it is "". */
static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *node_row(struct arena *arena, const struct slurm_node *node)
{
    const char *reason = slurm_node_obstacle(arena, node);
    json_t *row = json_object();
    json_object_set_new(row, "host", json_string(node->name));
    json_object_set_new(row, "state", text_or_null(node->state));
    json_object_set_new(row, "cpus", json_integer(node->cpus));
    json_object_set_new(row, "used_cpus", json_integer(node->used_cpus));
    json_object_set_new(row, "mem", json_integer(node->mem_mib));
    json_object_set_new(row, "free_mem",
                        node->free_mem_mib >= 0 ? json_integer(node->free_mem_mib)
                                                : json_null());
    json_object_set_new(row, "load",
                        node->load >= 0 ? json_real(node->load) : json_null());
    json_object_set_new(row, "gres", text_or_null(node->gres));
    json_object_set_new(row, "features", text_or_null(node->features));
    json_object_set_new(row, "partitions", text_or_null(node->partitions));
    json_object_set_new(row, "idle", json_boolean(reason == NULL));
    json_object_set_new(row, "reason", text_or_null(reason != NULL ? reason : ""));
    return row;
}

static int show_nodes(struct call *call)
{
    const char *partition = call_text(call, "--partition");
    struct listing listing = {0};
    struct slurm_nodes nodes;
    const char *text;
    struct err err;
    int rc = ask(call, slurm_node_command(&call->arena, partition), &text, &err);
    if (rc == 0 && slurm_node_read(&call->arena, text, &nodes, &err) < 0) {
        rc = err_prefix(&err, "sinfo");
    }
    if (rc < 0) {
        return call_fail_err(&err);
    }
    begin_listing(&listing, "nodes");
    for (int i = 0; i < nodes.count; i++) {
        json_array_append_new(listing.rows, node_row(&call->arena, &nodes.items[i]));
    }
    int status = listing_show(call, &listing, &columns_slurm_nodes);
    listing_free(&listing);
    return status;
}

/* Exit status 1 if a setting must be changed. */
static int show_settings(struct call *call)
{
    static const char *const verdicts[] = {[SLURM_VERDICT_OK] = "ok",
                                           [SLURM_VERDICT_WARN] = "warn",
                                           [SLURM_VERDICT_FAIL] = "FAIL"};
    struct slurm_setting settings[SLURM_SETTINGS];
    struct listing listing = {0};
    const char *text;
    struct err err;
    bool has_failed = false;
    if (ask(call, slurm_setting_command, &text, &err) < 0 ||
        slurm_setting_read(&call->arena, text, settings, &err) < 0) {
        return call_fail_err(&err);
    }
    begin_listing(&listing, "settings");
    for (int i = 0; i < SLURM_SETTINGS; i++) {
        const struct slurm_setting *setting = &settings[i];
        json_t *row = json_object();
        json_object_set_new(row, "setting", json_string(setting->name));
        json_object_set_new(row, "value", text_or_null(setting->value));
        json_object_set_new(row, "verdict", json_string(verdicts[setting->verdict]));
        json_object_set_new(row, "advice", text_or_null(setting->advice));
        json_array_append_new(listing.rows, row);
        has_failed = has_failed || setting->verdict == SLURM_VERDICT_FAIL;
    }
    int status = listing_show(call, &listing, &columns_slurm_settings);
    listing_free(&listing);
    return status == CALL_OK && has_failed ? CALL_FAILED : status;
}

int cmd_slurm_run(struct call *call)
{
    struct err err;
    const char *what = call->n_operands == 1 ? call->operands[0] : "";
    const char *partition = call_value(call, "--partition");
    if (partition != NULL && conf_parse_name(partition, &err) != 0) {
        return call_misuse(call, "--partition: %s", err.text);
    }
    if (strcmp(what, "nodes") == 0) {
        return show_nodes(call);
    }
    if (strcmp(what, "check") != 0) {
        return call_misuse(call, "expected nodes or check");
    }
    return partition == NULL ? show_settings(call)
                             : call_misuse(call, "--partition is for nodes only");
}
