/* SPDX-License-Identifier: Apache-2.0 */
/* resource.c: see resource.h. One table has LSF's built-in resources. */
#include "sched/resource/resource.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "base/arena.h"
#include "base/conf/conf.h"

/* The direction is that of LSF's lsinfo; resources without an order say so. Load
 * indices are consumable, other built-in resources are not. */
enum direction { NO_ORDER, UP, DOWN };

/* clang-format off */
#define ROW(id, name, type, seconds, direction, what) \
    [id] = {name, type, (seconds) * INT64_C(1000), (direction) == UP, \
            (seconds) > 0 && (type) == RESOURCE_NUMERIC && (id) != RESOURCE_SLOTS, true, \
            (direction) != NO_ORDER, what}
static const struct resource builtins[RESOURCE_BUILTINS] = {
    ROW(RESOURCE_STATUS, "status", RESOURCE_STRING, 15, NO_ORDER, "host status"),
    ROW(RESOURCE_R15S, "r15s", RESOURCE_NUMERIC, 15, UP, "15-second CPU run queue length"),
    ROW(RESOURCE_R1M, "r1m", RESOURCE_NUMERIC, 15, UP, "1-minute CPU run queue length (alias: cpu)"),
    ROW(RESOURCE_R15M, "r15m", RESOURCE_NUMERIC, 15, UP, "15-minute CPU run queue length"),
    ROW(RESOURCE_UT, "ut", RESOURCE_NUMERIC, 15, UP, "1-minute CPU utilization (0.0 to 1.0)"),
    ROW(RESOURCE_PG, "pg", RESOURCE_NUMERIC, 15, UP, "paging rate (pages/second)"),
    ROW(RESOURCE_IO, "io", RESOURCE_NUMERIC, 15, UP, "disk IO rate (KB/second)"),
    ROW(RESOURCE_LS, "ls", RESOURCE_NUMERIC, 30, UP, "number of login sessions (alias: login)"),
    ROW(RESOURCE_IT, "it", RESOURCE_NUMERIC, 30, DOWN, "idle time (minutes) (alias: idle)"),
    ROW(RESOURCE_TMP, "tmp", RESOURCE_NUMERIC, 120, DOWN, "disk space in /tmp (MB)"),
    ROW(RESOURCE_SWP, "swp", RESOURCE_NUMERIC, 15, DOWN, "available swap space (MB) (alias: swap)"),
    ROW(RESOURCE_MEM, "mem", RESOURCE_NUMERIC, 15, DOWN, "available memory (MB)"),
    ROW(RESOURCE_TYPE, "type", RESOURCE_STRING, 0, NO_ORDER, "host type"),
    ROW(RESOURCE_MODEL, "model", RESOURCE_STRING, 0, NO_ORDER, "host model"),
    ROW(RESOURCE_HNAME, "hname", RESOURCE_STRING, 0, NO_ORDER, "host name"),
    ROW(RESOURCE_CPUF, "cpuf", RESOURCE_NUMERIC, 0, DOWN, "CPU factor"),
    ROW(RESOURCE_SERVER, "server", RESOURCE_BOOLEAN, 0, NO_ORDER, "host that runs jobs"),
    ROW(RESOURCE_REXPRI, "rexpri", RESOURCE_NUMERIC, 0, NO_ORDER, "priority that jobs run at"),
    ROW(RESOURCE_NCPUS, "ncpus", RESOURCE_NUMERIC, 0, DOWN, "number of CPUs"),
    ROW(RESOURCE_NDISKS, "ndisks", RESOURCE_NUMERIC, 0, DOWN, "number of local disks"),
    ROW(RESOURCE_NPROCS, "nprocs", RESOURCE_NUMERIC, 0, DOWN, "number of processors"),
    ROW(RESOURCE_NCORES, "ncores", RESOURCE_NUMERIC, 0, DOWN, "number of cores of a processor"),
    ROW(RESOURCE_NTHREADS, "nthreads", RESOURCE_NUMERIC, 0, DOWN, "number of threads of a core"),
    ROW(RESOURCE_MAXMEM, "maxmem", RESOURCE_NUMERIC, 0, DOWN, "physical memory (MB)"),
    ROW(RESOURCE_MAXSWP, "maxswp", RESOURCE_NUMERIC, 0, DOWN, "swap space (MB)"),
    ROW(RESOURCE_MAXTMP, "maxtmp", RESOURCE_NUMERIC, 0, DOWN, "space in /tmp (MB)"),
    ROW(RESOURCE_SLOTS, "slots", RESOURCE_NUMERIC, 15, DOWN, "free job slots"),
    ROW(RESOURCE_MAXSLOTS, "maxslots", RESOURCE_NUMERIC, 0, DOWN, "job slots"),
};
/* clang-format on */

static const struct {
    const char *alias;
    int id;
} aliases[] = {
    {"swap", RESOURCE_SWP},
    {"idle", RESOURCE_IT},
    {"login", RESOURCE_LS},
    {"cpu", RESOURCE_R1M},
};

/* LSF has no resource `null`: a script writes it if it lost a value. */
static const char *const words[] = {"defined", "any",   "local",   "null",
                                    "select",  "order", "rusage",  "span",
                                    "same",    "cu",    "affinity"};

struct name {
    const char *text;
    int id;
    UT_hash_handle hh;
};

struct resources {
    struct arena arena; /* defined resources, and the names in the hash table */
    const struct resource **rows; /* at most RESOURCES_MAX are in use */
    int n_rows, capacity;
    struct name *names; /* hash table */
};

static void add_name(struct resources *resources, const char *text, int id)
{
    struct name *name = arena_alloc(&resources->arena, 1, sizeof(*name));
    name->text = text;
    name->id = id;
    HASH_ADD_KEYPTR(hh, resources->names, name->text, strlen(name->text), name);
}

struct resources *resources_new(void)
{
    struct resources *resources = mem_alloc(1, sizeof(*resources));
    arena_init(&resources->arena);
    resources->capacity = RESOURCE_BUILTINS;
    resources->rows = mem_alloc(RESOURCE_BUILTINS, sizeof(*resources->rows));
    for (int id = 0; id < RESOURCE_BUILTINS; id++) {
        resources->rows[id] = &builtins[id];
        add_name(resources, builtins[id].name, id);
    }
    resources->n_rows = RESOURCE_BUILTINS;
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
        add_name(resources, aliases[i].alias, aliases[i].id);
    }
    return resources;
}

void resources_free(struct resources *resources)
{
    if (resources == NULL) {
        return;
    }
    HASH_CLEAR(hh, resources->names);
    arena_release(&resources->arena);
    free(resources->rows);
    free(resources);
}

static int check_name(const struct resources *resources, const char *name,
                      struct err *err)
{
    int code = conf_parse_resource(name, err);
    if (code != 0) {
        return code;
    }
    if (resource_is_keyword(name, strlen(name))) {
        return err_set(err, ERR_PARSE,
                       "resource name \"%s\" is a word of requirement strings", name);
    }
    int id = resources_find(resources, name, strlen(name));
    if (id >= 0) {
        return err_set(err, ERR_EXISTS, "resource \"%s\" is %s", name,
                       id < RESOURCE_BUILTINS ? "built in" : "defined twice");
    }
    return 0;
}

int resources_add(struct resources *resources, const struct resource *resource, int *id,
                  struct err *err)
{
    int code = check_name(resources, resource->name, err);
    if (code != 0) {
        return code;
    }
    if (resources->n_rows == RESOURCES_MAX) {
        return err_set(err, ERR_FULL, "resource \"%s\" is one too many: at most %d",
                       resource->name, RESOURCES_MAX);
    }
    struct resource *row = arena_copy(&resources->arena, resource, sizeof(*resource));
    row->name = arena_str(&resources->arena, resource->name);
    row->description = arena_str(&resources->arena,
                                 resource->description ? resource->description : "");
    row->is_orderable = resource->type == RESOURCE_NUMERIC;
    if (resources->n_rows == resources->capacity) {
        resources->capacity += resources->capacity / 2;
        resources->rows = mem_grow(resources->rows, (size_t)resources->capacity,
                                   sizeof(*resources->rows));
    }
    *id = resources->n_rows++;
    resources->rows[*id] = row;
    add_name(resources, row->name, *id);
    return 0;
}

int resources_find(const struct resources *resources, const char *name, size_t length)
{
    struct name *found;
    HASH_FIND(hh, resources->names, name, length, found);
    return found != NULL ? found->id : -1;
}

int resources_count(const struct resources *resources)
{
    return resources->n_rows;
}

const struct resource *resources_at(const struct resources *resources, int id)
{
    return resources->rows[id];
}

bool resource_is_keyword(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == length && memcmp(words[i], name, length) == 0) {
            return true;
        }
    }
    return false;
}

const char *resource_type_name(enum resource_type type)
{
    static const char *const names[] = {"Numeric", "Boolean", "String"};
    return names[type];
}
