/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h: the catalogue: which resources there are, and what kind each is.
 *
 * A resource has a place in the catalogue, its id: built-in ones first, in the order of
 * the table in resource.c, then defined ones (`Begin Resource`) as they are added. The
 * values that hosts have stand in a resource_table.
 *
 * Units: as LSF has them: mem, swp, tmp, maxmem, maxswp, maxtmp in MB, `it` in minutes,
 * `pg` pages a second, `io` KB a second, `ut` as a fraction, 0.0 to 1.0.
 * Ownership: the catalogue copies names and descriptions and frees them.
 * Errors: ERR_PARSE, ERR_BOUNDS for a name that cannot be one, ERR_EXISTS, ERR_FULL;
 * then nothing was added. Source: lsf.md 5.8; seed 003. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESOURCE_RESOURCE_H
#define SUBLET_SCHED_RESOURCE_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum resource_type { RESOURCE_NUMERIC, RESOURCE_BOOLEAN, RESOURCE_STRING };

/* Built-in resources have these ids in every catalogue. */
enum resource_id {
    RESOURCE_STATUS, /* as `hosts` shows it: "ok", "closed", "unavail" ... */
    RESOURCE_R15S,
    RESOURCE_R1M,
    RESOURCE_R15M,
    RESOURCE_UT,
    RESOURCE_PG,
    RESOURCE_IO,
    RESOURCE_LS,
    RESOURCE_IT,
    RESOURCE_TMP,
    RESOURCE_SWP,
    RESOURCE_MEM,
    RESOURCE_TYPE,
    RESOURCE_MODEL,
    RESOURCE_HNAME, /* "n1"; a borrowed host: "n1@north" */
    RESOURCE_CPUF,
    RESOURCE_SERVER,
    RESOURCE_REXPRI,
    RESOURCE_NCPUS,
    RESOURCE_NDISKS,
    RESOURCE_NPROCS,
    RESOURCE_NCORES,
    RESOURCE_NTHREADS,
    RESOURCE_MAXMEM,
    RESOURCE_MAXSWP,
    RESOURCE_MAXTMP,
    RESOURCE_SLOTS,    /* free slots */
    RESOURCE_MAXSLOTS, /* all of the host's */
    RESOURCE_BUILTINS
};

enum { RESOURCES_MAX = 1000 }; /* of a catalogue: a file is no database */

struct resource {
    const char *name;
    enum resource_type type;
    int64_t interval_ms; /* > 0: dynamic, a new value that often; 0: static */
    bool is_increasing;  /* a larger value is more load: order puts small ones first */
    bool is_consumable;
    bool is_released;  /* given back while the job that took it is suspended */
    bool is_orderable; /* set by the catalogue: `order` may name it */
    const char *description;
};

struct resources;

/* A catalogue of the built-in resources. */
struct resources *resources_new(void);
void resources_free(struct resources *resources);

/* Adds a defined resource and gives its id. Its name is one that conf_parse_resource
 * takes, and no built-in's, no alias, no word of the language (`defined`, `any`,
 * `local`). */
int resources_add(struct resources *resources, const struct resource *resource, int *id,
                  struct err *err) MUST_CHECK;

/* The id by name (with aliases: swap idle login cpu), or -1. `length` bytes of it. */
int resources_find(const struct resources *resources, const char *name, size_t length);
int resources_count(const struct resources *resources);
const struct resource *resources_at(const struct resources *resources, int id);

/* True for words that mean something else in a requirement string. */
bool resource_is_keyword(const char *name, size_t length);

/* "Numeric", "Boolean", "String". */
const char *resource_type_name(enum resource_type type);

#endif
