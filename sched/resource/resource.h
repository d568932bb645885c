/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h: the catalogue of resources, and the table of the values that hosts have.
 *
 * A resource has an id in the catalogue. Built-in resources come first, in the order of
 * the table in resource.c, then defined ones (`Begin Resource`) in the order in which
 * they are added.
 *
 * A table has a row for each host and a column for each resource. Requirement strings
 * are evaluated over it (resreq.h). A value that was never set, or was unset, is
 * absent: it reads as 0, false or "", and `has` tells the difference. A column is
 * allocated with its first value. Each different text is stored once and never dropped.
 * Beyond RESOURCE_TEXTS_MAX texts (a script that keeps reporting new ones) a new text
 * is not stored, and the value is absent. NaN and infinity are absent, too.
 *
 * Units: as in LSF: mem, swp, tmp, maxmem, maxswp, maxtmp in MB, `it` in minutes, `pg`
 * pages a second, `io` KB a second, `ut` as a fraction, 0.0 to 1.0.
 * Ownership: the catalogue copies names and descriptions. A table borrows its
 * catalogue, which outlives it and may grow meanwhile; texts are copied. Errors:
 * ERR_PARSE, ERR_BOUNDS for an invalid name, ERR_EXISTS, ERR_FULL; nothing was added
 * then. A row, id or type out of range is our bug. Source: docs/design/resreq.md
 * "Built-in resources"; LSF, "Resource requirement strings". Layer: sched (base only).
 */
#ifndef SUBLET_SCHED_RESOURCE_RESOURCE_H
#define SUBLET_SCHED_RESOURCE_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum resource_type { RESOURCE_NUMERIC, RESOURCE_BOOLEAN, RESOURCE_STRING };

/* These ids are the same in every catalogue. */
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

enum { RESOURCES_MAX = 1000 }; /* in a catalogue */

struct resource {
    const char *name;
    enum resource_type type;
    int64_t interval_ms; /* > 0: dynamic, reported at this interval; 0: static */
    bool is_increasing; /* a larger value means more load: order puts small values first
                         */
    bool is_consumable;
    bool is_released;  /* released while the job that reserved it is suspended */
    bool is_orderable; /* set by the catalogue: `order` may name it */
    const char *description;
};

struct resources;

/* Creates a catalogue of the built-in resources. */
struct resources *resources_new(void);
void resources_free(struct resources *resources);

/* Adds a defined resource and gives its id. The name must be one that
 * conf_parse_resource accepts, and not that of a built-in resource, an alias or a
 * keyword (`defined`, `any`, `local`). */
int resources_add(struct resources *resources, const struct resource *resource, int *id,
                  struct err *err) MUST_CHECK;

/* Finds the id by name, of which `length` bytes count. Aliases are known: swap, idle,
 * login, cpu. -1: there is none. */
int resources_find(const struct resources *resources, const char *name, size_t length);
int resources_count(const struct resources *resources);
const struct resource *resources_at(const struct resources *resources, int id);

/* True for words that have another meaning in a requirement string. */
bool resource_is_keyword(const char *name, size_t length);

/* "Numeric", "Boolean", "String". */
const char *resource_type_name(enum resource_type type);

enum {
    RESOURCE_TEXTS_MAX =
        1000000, /* texts of a table: ten per host of the largest federation */
    RESOURCE_TEXT_NONE = 0, /* number of the text of an absent value: "" */
    RESOURCE_BLOCK = 128,   /* rows by which the arrays of a column are allocated: a
                               reader of   blocks may read the last one completely */
};

struct resource_table;

struct resource_table *resource_table_new(const struct resources *resources);
void resource_table_free(struct resource_table *table);
const struct resources *resource_table_resources(const struct resource_table *table);

/* Rows are 0 .. n_rows - 1. New rows have no values; other rows keep theirs. */
void resource_table_resize(struct resource_table *table, int n_rows);
int resource_table_rows(const struct resource_table *table);
/* All values of the row become absent, and none of its resources is exclusive. */
void resource_table_clear_row(struct resource_table *table, int row);
/* Copies row `from_row` of another table of the same catalogue. */
void resource_table_copy_row(struct resource_table *table, int row,
                             const struct resource_table *from, int from_row);

void resource_table_set_number(struct resource_table *table, int row, int id,
                               double number);
void resource_table_set_flag(struct resource_table *table, int row, int id, bool flag);
void resource_table_set_text(struct resource_table *table, int row, int id,
                             const char *text);
void resource_table_unset(struct resource_table *table, int row, int id);
/* `!bigmem`: the host has the resource, and runs only jobs whose select names it. Only
 * for Boolean resources. */
void resource_table_set_exclusive(struct resource_table *table, int row, int id,
                                  bool is_exclusive);

/* Exclusive resources of the host that the catalogue does not define: no selection can
 * name them, so none takes the host. Names separated by blanks; "": none. */
void resource_table_add_undefined(struct resource_table *table, int row,
                                  const char *name);
void resource_table_clear_undefined(struct resource_table *table, int row);
const char *resource_table_undefined(const struct resource_table *table, int row);

bool resource_table_has(const struct resource_table *table, int row, int id);
double resource_table_number(const struct resource_table *table, int row, int id);
bool resource_table_flag(const struct resource_table *table, int row, int id);
const char *resource_table_text(const struct resource_table *table, int row, int id);
bool resource_table_is_exclusive(const struct resource_table *table, int row, int id);

/* A column as arrays by row, for evaluation; valid until the table changes. NULL: no
 * host has a value. Absent values are 0, false, RESOURCE_TEXT_NONE. */
struct resource_column {
    const double *numbers; /* RESOURCE_NUMERIC */
    const uint8_t *flags;  /* RESOURCE_BOOLEAN: 0, 1 */
    const int32_t *texts;  /* RESOURCE_STRING: see resource_table_text_at */
    const uint8_t *has;
    const uint8_t *exclusive; /* NULL: not exclusive on any host */
};
/* The numbers of the texts of resource_table_undefined, by row; NULL: all are "". */
const int32_t *resource_table_undefined_column(const struct resource_table *table);
struct resource_column resource_table_column(const struct resource_table *table,
                                             int id);

/* Numbers that replace those of a column: by row, in whole blocks. */
struct resource_override {
    int id;
    const double *numbers;
};
struct resource_overrides {
    const struct resource_override *items;
    int n_items;
};
/* The numbers of that resource; NULL: it is not overridden. `overrides` may be NULL. */
const double *resource_table_find_override(const struct resource_overrides *overrides,
                                           int id);

/* The text with that number; the number of a text, or -1 if no host has it. */
const char *resource_table_text_at(const struct resource_table *table, int32_t text);
int32_t resource_table_find_text(const struct resource_table *table, const char *text,
                                 size_t length);

/* ---------------------------------------------------------------- load_threshold.c */

/* Load thresholds of hosts and queues: the load at which no job is
 * started on a host any more (loadSched), and at which its jobs are suspended
 * (loadStop).
 *
 *     r1m = 0.7/2.0    no job starts above 0.7, running jobs are suspended above 2.0
 *     mem = 500/100    an index that decreases with load: below 500, below 100
 *     it  = /10        loadStop alone; tmp = 200 or tmp = 200/: loadSched alone
 *
 * A value equal to the threshold does not exceed it. A start also requires that
 * loadStop is not exceeded, because the job would be suspended, or ended and started
 * again, at once. The run queues (r15s, r1m, r15m) are compared per core (or per CPU of
 * ncpus, if there are more), like LSF's effective run queue length. A host that reports
 * neither counts as one core. A value that a host does not report exceeds loadSched,
 * but not loadStop.
 *
 * Units: resource.h. Order: if several indices exceed their thresholds, the one with
 * the lowest id is named, as in LSF. Ownership: the arena's. Errors: ERR_PARSE,
 * ERR_BOUNDS. Source: LSF's lsb.queues and lsb.hosts (load_index); docs/adr/0016. */

enum load_threshold_kind { LOAD_SCHED, LOAD_STOP };
enum { LOAD_THRESHOLD_KINDS = LOAD_STOP + 1 };

/* The thresholds of one load index. */
struct load_threshold {
    int id; /* id of the resource */
    bool has[LOAD_THRESHOLD_KINDS];
    double bounds[LOAD_THRESHOLD_KINDS];
};

struct load_thresholds {
    const struct load_threshold *items; /* ordered by id, each at most once */
    int n_items;
};

/* A load index that exceeds its threshold. */
struct load_excess {
    const char *index; /* owned by the catalogue; NULL: none */
    bool is_increasing;
    bool is_unknown; /* the host does not report it */
    double value, bound;
};

/* True if the resource may have thresholds: it is dynamic and numeric. */
bool load_threshold_is_index(const struct resource *resource, int id);

/* Parses "0.7/2.0" for that resource. */
int load_threshold_parse(const struct resources *resources, int id, const char *text,
                         struct load_threshold *threshold, struct err *err) MUST_CHECK;
/* Writes thresholds as load_threshold_parse reads them. */
const char *load_threshold_format(struct arena *arena,
                                  const struct load_threshold *threshold);
/* True if loadStop is stricter than loadSched: a job could be started and then
 * suspended at once. */
bool load_threshold_is_inverted(const struct resources *resources,
                                const struct load_threshold *threshold);

/* True if a load index of that row exceeds its threshold; `excess` says which. */
bool load_thresholds_find(const struct load_thresholds *thresholds,
                          const struct resource_table *table, int row,
                          enum load_threshold_kind side, struct load_excess *excess);

/* "r1m 2.6 > 2", "mem 80 < 100", "licload is not reported". */
const char *load_threshold_text(struct arena *arena, const struct load_excess *excess);

#endif
