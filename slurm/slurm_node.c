/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_node.c: see slurm_node.h. */
#include "slurm/slurm_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_reservation.h"
#include "slurm/slurm_row.h"

enum {
    NAME,
    STATE,
    CPUS,
    MEMORY,
    FREE_MEMORY,
    LOAD,
    FEATURES,
    GRES,
    PARTITION,
    N_CELLS
};

/* A node in so many partitions is a mistake of somebody's. */
enum { PARTITIONS_MAX = 16 };

/* No user writes them, and each is as long as it is: a large cluster has many lines. */
static const struct slurm_column columns[N_CELLS] = {
    [NAME] = {"NodeList", 0, false},           [STATE] = {"StateComplete", 0, false},
    [CPUS] = {"CPUsState", 0, false},          [MEMORY] = {"Memory", 0, false},
    [FREE_MEMORY] = {"FreeMem", 0, false},     [LOAD] = {"CPUsLoad", 0, false},
    [FEATURES] = {"Features", 0, false},       [GRES] = {"Gres", 0, false},
    [PARTITION] = {"PartitionName", 0, false},
};

const char *const *slurm_node_command(struct arena *arena, const char *partition)
{
    const char **words = arena_alloc(arena, 9, sizeof(*words));
    int n_words = 0;
    words[n_words++] = "sinfo";
    words[n_words++] = "--noheader";
    words[n_words++] = "--Node";
    words[n_words++] = "--Format";
    words[n_words++] = slurm_row_format(arena, columns, N_CELLS);
    if (partition[0] != '\0') {
        words[n_words++] = "--partition";
        words[n_words++] = partition;
    }
    return words;
}

/* ---------------------------------------------------------------- one line */

static int read_number(const char *cell, int64_t most, const char *field,
                       int64_t *number, struct err *err)
{
    struct err cause;
    return conf_parse_int(cell, 0, most, number, &cause) == 0
               ? 0
               : err_set(err, ERR_BOUNDS, "%s: %s", field, cause.text);
}

/* "1/3/0/4": CPUs that are allocated, idle, other, and all. */
static int read_cpus(struct arena *arena, const char *cell, struct slurm_node *node,
                     struct err *err)
{
    int64_t numbers[4];
    char *rest = arena_str(arena, cell);
    for (int i = 0; i < 4; i++) {
        const char *word = strsep(&rest, "/");
        if (word == NULL) {
            return err_set(err, ERR_PARSE,
                           "CPUsState \"%s\", expected allocated/idle/other/all", cell);
        }
        int rc = read_number(word, SLOTS_MAX, "CPUsState", &numbers[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    if (rest != NULL || numbers[0] + numbers[1] + numbers[2] != numbers[3]) {
        return err_set(err, ERR_PARSE,
                       "CPUsState \"%s\", expected allocated/idle/other/all, of which "
                       "the last is the sum",
                       cell);
    }
    node->used_cpus = (int)numbers[0];
    node->cpus = (int)numbers[3];
    return 0;
}

static int read_load(const char *cell, double *load, struct err *err)
{
    char *end;
    *load = -1;
    if (cell[0] == '\0') {
        return 0;
    }
    double number = strtod(cell, &end);
    if (*end != '\0' || !isfinite(number) || number < 0) {
        return err_set(err, ERR_PARSE, "CPUsLoad \"%s\", expected a number", cell);
    }
    *load = number;
    return 0;
}

static int read_node(struct arena *arena, const char **text, struct slurm_node *node,
                     struct err *err)
{
    const char *cells[N_CELLS];
    struct err cause;
    int rc = slurm_row_read(arena, text, columns, N_CELLS, cells, err);
    if (rc < 0) {
        return rc;
    }
    *node = (struct slurm_node){.name = cells[NAME],
                                .state = cells[STATE],
                                .free_mem_mib = -1,
                                .features = cells[FEATURES],
                                .gres = cells[GRES],
                                .partitions = cells[PARTITION]};
    if (conf_parse_name(node->name, &cause) != 0) {
        return err_set(err, ERR_BOUNDS, "node \"%s\": %s", node->name, cause.text);
    }
    rc = read_cpus(arena, cells[CPUS], node, err);
    if (rc == 0) {
        rc = read_number(cells[MEMORY], SPACE_MAX_MIB, "Memory", &node->mem_mib, err);
    }
    if (rc == 0 && cells[FREE_MEMORY][0] != '\0') {
        rc = read_number(cells[FREE_MEMORY], SPACE_MAX_MIB, "FreeMem",
                         &node->free_mem_mib, err);
    }
    return rc == 0 ? read_load(cells[LOAD], &node->load, err) : rc;
}

/* ---------------------------------------------------------------- all lines */

struct line {
    struct slurm_node node;
    int number; /* of the line, from 1 */
};

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int order = strcmp(a->node.name, b->node.name);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int read_lines(struct arena *arena, const char *text, struct line **lines,
                      int *n_lines, struct err *err)
{
    int count = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
        if (count > HOSTS_MAX * PARTITIONS_MAX) {
            return err_set(err, ERR_BOUNDS, "more than %d lines",
                           HOSTS_MAX * PARTITIONS_MAX);
        }
    }
    *lines = arena_alloc(arena, (size_t)count + 1, sizeof(**lines));
    *n_lines = 0;
    while (*text != '\0') {
        struct line *line = &(*lines)[*n_lines];
        line->number = ++*n_lines;
        if (read_node(arena, &text, &line->node, err) < 0) {
            return err_prefix(err, "line %d", line->number);
        }
    }
    return 0;
}

/* Lines of one node are neighbours. */
static int merge_lines(struct arena *arena, const struct line *lines, int n_lines,
                       struct slurm_nodes *nodes, struct err *err)
{
    struct slurm_nodes made = {
        .items = arena_alloc(arena, (size_t)n_lines + 1, sizeof(*made.items))};
    int n_partitions = 0;
    for (int i = 0; i < n_lines; i++) {
        const struct slurm_node *node = &lines[i].node;
        struct slurm_node *last = made.count > 0 ? &made.items[made.count - 1] : NULL;
        bool is_same = last != NULL && strcmp(last->name, node->name) == 0;
        n_partitions = is_same ? n_partitions + 1 : 1;
        if (n_partitions > PARTITIONS_MAX) {
            return err_set(err, ERR_BOUNDS, "node \"%s\" is in more than %d partitions",
                           node->name, PARTITIONS_MAX);
        }
        if (is_same) {
            last->partitions =
                arena_printf(arena, "%s,%s", last->partitions, node->partitions);
        } else if (made.count == HOSTS_MAX) {
            return err_set(err, ERR_BOUNDS, "more than %d nodes", HOSTS_MAX);
        } else {
            made.items[made.count++] = *node;
        }
    }
    *nodes = made;
    return 0;
}

int slurm_node_read_all(struct arena *arena, const char *text,
                        struct slurm_nodes *nodes, struct err *err)
{
    struct line *lines = NULL;
    int n_lines = 0;
    int rc = read_lines(arena, text, &lines, &n_lines, err);
    if (rc < 0) {
        return rc;
    }
    qsort(lines, (size_t)n_lines, sizeof(*lines), compare_lines);
    return merge_lines(arena, lines, n_lines, nodes, err);
}

int slurm_node_read(struct arena *arena, const char *text, struct slurm_nodes *nodes,
                    struct err *err)
{
    struct slurm_nodes all;
    int rc = slurm_node_read_all(arena, text, &all, err);
    if (rc < 0) {
        return rc;
    }
    int count = 0;
    for (int i = 0; i < all.count; i++) {
        if (slurm_node_guest(&all.items[i]) == 0) {
            all.items[count++] = all.items[i];
        }
    }
    *nodes = (struct slurm_nodes){all.items, count};
    return 0;
}

uint64_t slurm_node_guest(const struct slurm_node *node)
{
    static const char head[] = "sublet";
    size_t length = sizeof(head) - 1;
    int64_t job;
    if (strncmp(node->name, head, length) != 0 ||
        conf_parse_int(node->name + length, 1, INT64_MAX, &job, NULL) != 0 ||
        strstr(node->state, "dynamic") == NULL ||
        !slurm_reservation_has_word(node->features, head, length)) {
        return 0;
    }
    return (uint64_t)job;
}

const char *slurm_node_obstacle(struct arena *arena, const struct slurm_node *node)
{
    if (node->used_cpus > 0) {
        return arena_printf(arena, "%d of %d CPUs are in use", node->used_cpus,
                            node->cpus);
    }
    return strcmp(node->state, "idle") == 0
               ? NULL
               : arena_printf(arena, "its state is %s", node->state);
}
