/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm_list.c: see sim_slurm_list.h. A field has a row in a table with the
 * function that prints its value. */
#include "sim/slurm/sim_slurm_list.h"

#include <stdlib.h>
#include <string.h>

/* One line of a listing. */
struct item {
    const struct sim_slurm *slurm;
    struct arena *arena;
    int node;
    const struct ctld_job *job;
    const char *partition;
};
typedef const char *(*value_fn)(const struct item *item);
struct field {
    const char *name;
    value_fn value;
};

/* ---------------------------------------------------------------- rows */

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : "(null)";
}

static const struct field *find_field(const struct field *fields, const char *name,
                                      size_t length)
{
    for (; fields->name != NULL; fields++) {
        if (strlen(fields->name) == length &&
            strncmp(fields->name, name, length) == 0) {
            return fields;
        }
    }
    return NULL;
}

/* A value in its column, and the text behind it. */
static char *print_cell(char *at, const char *value, size_t width, const char *behind,
                        size_t n_behind)
{
    size_t length = strnlen(value, width);
    memcpy(at, value, length);
    memset(at + length, ' ', width - length);
    memcpy(at + width, behind, n_behind);
    return at + width + n_behind;
}

/* Columns are "NAME:WIDTH" and a text behind it, separated by commas. A column of width
 * 0 is as long as its value. */
static const char *print_row(const struct field *fields, const char *format,
                             const struct item *item)
{
    enum { ROW_MAX = 16384 };
    char *row = arena_alloc(item->arena, ROW_MAX, 1), *at = row;
    while (*format != '\0') {
        size_t length = strcspn(format, ":");
        const struct field *field = find_field(fields, format, length);
        if (field == NULL || format[length] != ':') {
            return NULL;
        }
        char *behind;
        size_t width = strtoul(format + length + 1, &behind, 10);
        size_t n_behind = strcspn(behind, ",");
        const char *value = field->value(item);
        width = width > 0 ? width : strlen(value);
        if (width + n_behind + 2 > ROW_MAX - (size_t)(at - row)) {
            return NULL;
        }
        at = print_cell(at, value, width, behind, n_behind);
        format = behind + n_behind;
        format += *format == ',';
    }
    *at = '\n';
    return row;
}

/* ---------------------------------------------------------------- nodes */

static const char *node_name(const struct item *item)
{
    return item->slurm->nodes[item->node].name;
}

static bool is_out(const struct ctld_node *node)
{
    return node->is_down || node->is_drained;
}

static bool has_completing(const struct item *item)
{
    for (int i = 0; i < item->slurm->books.n_jobs; i++) {
        const struct ctld_job *job = &item->slurm->books.jobs[i];
        if (job->code == CODE_CG && job->node == item->node) {
            return true;
        }
    }
    return false;
}

static const char *node_state(const struct item *item)
{
    const struct ctld_node *node = &item->slurm->books.nodes[item->node];
    int n_cpus = item->slurm->nodes[item->node].n_cpus;
    int n_used = sim_slurmctld_count_used(item->slurm, item->node);
    bool is_silent = item->slurm->register_ms != SIM_SLURM_NEVER ||
                     item->slurm->node_back_ms[item->node] != SIM_SLURM_NEVER;
    const char *base = node->is_down                                   ? "down"
                       : n_used == 0                                   ? "idle"
                       : n_used + (is_out(node) ? n_cpus : 0) < n_cpus ? "mixed"
                                                                       : "allocated";
    return arena_printf(
        item->arena, "%s%s%s%s%s%s%s", base, has_completing(item) ? "+completing" : "",
        node->is_drained ? "+drain" : "",
        item->slurm->nodes[item->node].is_dynamic ? "+dynamic_norm" : "",
        node->is_reserved ? "+reserved" : "", is_silent ? "+not_responding" : "",
        node->is_planned && n_used == 0 ? "+planned" : "");
}

static const char *node_cpus(const struct item *item)
{
    int n_cpus = item->slurm->nodes[item->node].n_cpus;
    int n_used = sim_slurmctld_count_used(item->slurm, item->node);
    int n_out = is_out(&item->slurm->books.nodes[item->node]) && n_used < n_cpus
                    ? n_cpus - n_used
                    : 0;
    return arena_printf(item->arena, "%d/%d/%d/%d", n_used, n_cpus - n_used - n_out,
                        n_out, n_cpus);
}

static const char *node_memory(const struct item *item)
{
    return arena_printf(item->arena, "%lld",
                        (long long)item->slurm->nodes[item->node].mem_mib);
}

static const char *node_load(const struct item *item)
{
    return arena_printf(item->arena, "%d.00",
                        sim_slurmctld_count_used(item->slurm, item->node));
}

static const char *node_features(const struct item *item)
{
    return or_null(item->slurm->nodes[item->node].features);
}

static const char *node_gres(const struct item *item)
{
    (void)item;
    return "(null)";
}

static const char *item_partition(const struct item *item)
{
    return item->partition;
}

static const struct field node_fields[] = {
    {"NodeList", node_name},           {"StateComplete", node_state},
    {"CPUsState", node_cpus},          {"Memory", node_memory},
    {"FreeMem", node_memory},          {"CPUsLoad", node_load},
    {"Features", node_features},       {"Gres", node_gres},
    {"PartitionName", item_partition}, {NULL, NULL},
};

const char *sim_slurm_list_nodes(const struct sim_slurm *slurm, struct arena *arena,
                                 const char *format, const char *partition)
{
    const char *text = "";
    for (int i = 0; i < slurm->n_nodes; i++) {
        const char *at = slurm->nodes[i].partitions;
        while (*at != '\0' && !slurm->books.nodes[i].is_gone) {
            size_t length = strcspn(at, ",");
            struct item item = {.slurm = slurm,
                                .arena = arena,
                                .node = i,
                                .partition = arena_strn(arena, at, length)};
            at += length + (at[length] == ',');
            if (partition != NULL && strcmp(partition, item.partition) != 0) {
                continue;
            }
            const char *row = print_row(node_fields, format, &item);
            if (row == NULL) {
                return NULL;
            }
            text = arena_printf(arena, "%s%s", text, row);
        }
    }
    return text;
}

/* ---------------------------------------------------------------- jobs */

static const struct {
    const char *code, *name;
} codes[N_CODES] = {
    [CODE_CA] = {"CA", "CANCELLED"},  [CODE_CD] = {"CD", "COMPLETED"},
    [CODE_CG] = {"CG", "COMPLETING"}, [CODE_F] = {"F", "FAILED"},
    [CODE_NF] = {"NF", "NODE_FAIL"},  [CODE_PD] = {"PD", "PENDING"},
    [CODE_R] = {"R", "RUNNING"},      [CODE_RD] = {"RD", "RESV_DEL_HOLD"},
    [CODE_ST] = {"ST", "STOPPED"},    [CODE_TO] = {"TO", "TIMEOUT"},
};

static const char *job_id(const struct item *item)
{
    return arena_printf(item->arena, "%lld", (long long)item->job->id);
}

static const char *job_code(const struct item *item)
{
    return codes[item->job->code].code;
}

static const char *job_reservation(const struct item *item)
{
    return or_null(item->job->reservation);
}

static const char *job_nodes(const struct item *item)
{
    return item->job->node >= 0 ? item->slurm->nodes[item->job->node].name : "";
}

static const char *job_user(const struct item *item)
{
    return item->job->user;
}

static const char *job_status(const struct item *item)
{
    return arena_printf(item->arena, "%d", item->job->wait_status);
}

static const char *print_time(const struct item *item, int64_t at_ms, const char *none)
{
    return at_ms == 0 ? none
                      : arena_printf(item->arena, "%lld", (long long)(at_ms / 1000));
}

static const char *job_start(const struct item *item)
{
    return print_time(item, item->job->start_ms, "N/A");
}

static const char *job_end(const struct item *item)
{
    return print_time(item, item->job->end_ms,
                      item->job->start_ms != 0 ? "NONE" : "N/A");
}

static const char *job_comment(const struct item *item)
{
    return or_null(item->job->comment);
}

static const char *job_n_nodes(const struct item *item)
{
    (void)item;
    return "1";
}

static const char *job_cpus(const struct item *item)
{
    return arena_printf(item->arena, "%d", item->job->n_cpus);
}

static const char *job_partition(const struct item *item)
{
    return item->job->partition;
}

static const char *job_reason(const struct item *item)
{
    return item->job->reason;
}

static const struct field job_fields[] = {
    {"JobID", job_id},
    {"JobArrayID", job_id},
    {"NumNodes", job_n_nodes},
    {"StateCompact", job_code},
    {"Reservation", job_reservation},
    {"NodeList", job_nodes},
    {"UserName", job_user},
    {"exit_code", job_status},
    {"StartTime", job_start},
    {"EndTime", job_end},
    {"Comment", job_comment},
    {"NumCPUs", job_cpus},
    {"Partition", job_partition},
    {"Reason", job_reason},
    {NULL, NULL},
};

static bool is_listed(const struct ctld_job *job, struct arena *arena,
                      const char *states, const char *users, const char *partition,
                      const char *ids)
{
    const char *id = arena_printf(arena, "%lld", (long long)job->id);
    return (strcmp(states, "all") == 0 ||
            sim_slurmctld_has_word(states, codes[job->code].name) ||
            sim_slurmctld_has_word(states, codes[job->code].code)) &&
           (users == NULL || sim_slurmctld_has_word(users, job->user)) &&
           (partition == NULL || strcmp(partition, job->partition) == 0) &&
           (ids == NULL || sim_slurmctld_has_word(ids, id));
}

const char *sim_slurm_list_jobs(const struct sim_slurm *slurm, struct arena *arena,
                                const char *format, const char *states,
                                const char *users, const char *partition,
                                const char *ids)
{
    const char *text = "";
    for (int code = 0; code < N_CODES; code++) {
        for (int i = 0; i < slurm->books.n_jobs; i++) {
            struct item item = {
                .slurm = slurm, .arena = arena, .job = &slurm->books.jobs[i]};
            if ((int)item.job->code != code ||
                !is_listed(item.job, arena, states, users, partition, ids)) {
                continue;
            }
            const char *row = print_row(job_fields, format, &item);
            if (row == NULL) {
                return NULL;
            }
            text = arena_printf(arena, "%s%s", text, row);
        }
    }
    return text;
}

/* ---------------------------------------------------------------- reservations */

static const char *print_nodes(const struct sim_slurm *slurm, struct arena *arena,
                               node_set nodes)
{
    const char *text = "";
    for (int i = 0; i < slurm->n_nodes; i++) {
        if ((nodes >> i & 1) != 0) {
            text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? "," : "",
                                slurm->nodes[i].name);
        }
    }
    return or_null(text);
}

const char *sim_slurm_list_reservations(const struct sim_slurm *slurm,
                                        struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < slurm->books.n_reservations; i++) {
        const struct ctld_reservation *item = &slurm->books.reservations[i];
        text = arena_printf(
            arena,
            "%sReservationName=%s StartTime=%lld EndTime=%lld Nodes=%s "
            "Features=(null) PartitionName=(null) Flags=%s%sSPEC_NODES Users=%s "
            "Groups=(null) Accounts=(null) Licenses=(null) State=%s "
            "BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n",
            text, item->name, (long long)(item->start_ms / 1000),
            (long long)(item->end_ms / 1000), print_nodes(slurm, arena, item->nodes),
            item->is_flex ? "FLEX," : "", item->ignores_jobs ? "IGNORE_JOBS," : "",
            item->users, sim_slurmctld_is_active(slurm, item) ? "ACTIVE" : "INACTIVE");
    }
    return text[0] != '\0' ? text : "No reservations in the system\n";
}
