/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h: parses a scenario into sites with their configurations and statements
 * with their line numbers. play.h executes it.
 *
 *     broker  broker.conf
 *     site    south south.conf
 *     at 0    submit south queue=normal slots=1 run=10m name=a count=9
 *     until   6h
 *     expect  at 1h lease north/1/south consumer.available == 6
 *
 * Units: milliseconds from the start of the scenario. Ownership: all of it lives in the
 * scenario's arena.
 * Errors: each error in the scenario or in a file that it names becomes a diagnostic in
 * `conf`, and reading continues. A scenario with errors must not be played. Order:
 * statements in file order; sites in file order. Source: docs/design/interfaces.md
 * "Scenarios"; docs/simulate.md is the manual. Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_H
#define SUBLET_SIM_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/conf/conf.h"
#include "base/err.h"
#include "broker/broker_config.h"
#include "model/msg.h"
#include "sim/scenario/swf.h"
#include "sim/world/executor.h"
#include "site/config/site_config.h"

enum {
    SCENARIO_SITES_MAX = 100,
    SCENARIO_STATEMENTS_MAX = 1000000, /* generated scenarios may be long */
    SCENARIO_BROKER = -1,              /* the site of a statement about the broker */
};

struct scenario_site {
    const char *name;
    int line;
    struct site_setup setup;
};

enum statement_kind {
    STATEMENT_SUBMIT,
    STATEMENT_WORKLOAD,
    STATEMENT_CONTROL, /* kill, stop, resume */
    STATEMENT_MOVE,    /* requeue, switch, btop, bbot */
    STATEMENT_RESIZE,
    STATEMENT_QUEUE,   /* open, close, activate, inactivate */
    STATEMENT_RECLAIM, /* set reclaim_delay */
    STATEMENT_SLOTS,
    STATEMENT_LOAD,
    STATEMENT_COMMAND,   /* duration of a PRE_EXEC command and the like */
    STATEMENT_HOST,      /* close, open */
    STATEMENT_JOB_GROUP, /* add, mod, del */
    STATEMENT_DRAIN,     /* drain, undrain */
    STATEMENT_REBALANCE,
    STATEMENT_RECOVER, /* the leases of a provider that has lost its ledger */
    STATEMENT_RELOAD,
    STATEMENT_PARTITION, /* the first fault ... */
    STATEMENT_CRASH,
    STATEMENT_LOSS,
    STATEMENT_REPEAT,
    STATEMENT_DELAY,
    STATEMENT_REORDER,
    STATEMENT_CRASHES,  /* at random */
    STATEMENT_FAIL,     /* of a host: its machine, disk, agent or guards */
    STATEMENT_FAILURES, /* likewise, at random */
    STATEMENT_SLOW,     /* a host */
    STATEMENT_SPLIT_BRAIN,
    STATEMENT_RESTORE, /* ... and the last */
    STATEMENT_BACKUP,
    STATEMENT_BATCH,
    STATEMENT_HOUR,
    STATEMENT_EXPECT,
    STATEMENT_FIRST_FAULT = STATEMENT_PARTITION,
    STATEMENT_LAST_FAULT = STATEMENT_RESTORE,
};

/* The options of `submit`. `command` of a simulated job is its work. */
struct statement_submit {
    const char *name; /* "a", or "j<n>" */
    int count;        /* elements; 0: not an array */
    int at_once;      /* elements that may run at a time; 0: all */
    const char *queue, *user;
    int n_slots;   /* 0: the queue's default */
    int max_slots; /* 0: n_slots */
    int64_t run_ms;
    int64_t limit_ms; /* 0: none */
    int exit_code;
    bool is_rerunnable, is_exclusive, is_interactive;
    bool ends_orphan;        /* -ti */
    struct conf_words hosts; /* none: the queue's */
    const char *res;         /* requirement string; NULL: none */
    const char *after;       /* dependency condition; NULL: none */
    int64_t begin_ms;        /* earliest start; 0: at once */
    int64_t terminate_ms;    /* latest end; 0: none */
    const char *project;     /* "": none */
    const char *group;       /* -G; "": none */
    const char *job_group;   /* -g; "": none */
    const char *app;         /* application profile; "": the site's default */
    int priority;            /* 0: the default */
    bool is_resizable;       /* -ar */
    int64_t notify_ms;       /* duration of its resize notification command; -1: none */
    int notify_exit;         /* exit code of that command */
};

/* One of: the new number of slots, the slots to release ("2@n1", "n2"), or the end of
 * its request for more slots. is_cancel may come together with `hosts`. */
struct statement_resize {
    int n_slots;
    struct conf_words hosts;
    bool is_cancel;
};

struct statement_workload {
    const char *path;
    const char *queue, *user; /* "": the default, and that of the trace */
    struct swf_options options;
    struct swf swf;
};

struct statement_reload {
    const char *path;
    struct site_setup site;     /* of a site ... */
    struct broker_setup broker; /* ... or of the broker */
};

struct statement_expect {
    const char *thing;      /* "lease", "job", "host", "queue", "site", "node" */
    const char *pool;       /* of a node */
    const char *name;       /* of the object */
    const char *field;      /* path into its JSON */
    const char *op, *value; /* as written; `value` without quotes */
    bool is_quoted;         /* a text, even if it looks like a number */
};

struct statement {
    enum statement_kind kind;
    int line;
    const char *text; /* the line as written, without its comment */
    int64_t at_ms;
    int site;         /* index or SCENARIO_BROKER */
    const char *name; /* control, move: job; queue: queue; slots, close: host; reclaim:
                         provider or lease; drain: lease or site; command: program */
    enum control_action action;
    enum job_move move;
    enum queue_order order;
    enum job_group_action group_action;
    const char *queue; /* of switch */
    enum reclaim_scope scope;
    enum executor_fault fault; /* fail */
    bool is_on;                /* close, drain; false: open, undrain */
    int number; /* slots, batch, jgroup (-1: none); loss, repeat, crashes: in 10,000;
                   command: exit code */
    int64_t ms; /* a time; reclaim: -1 is `default` */
    struct statement_submit submit;
    struct statement_resize resize;
    struct statement_workload workload;
    struct statement_expect expect;
    struct statement_reload *reload; /* of STATEMENT_RELOAD only */
    struct load_value *values;       /* load: the values that the host reports */
    int n_values;
};

struct scenario {
    struct arena arena;
    struct conf conf; /* the diagnostics of the scenario and all its files */
    const char *file;
    struct broker_setup broker; /* without a file: the defaults */
    struct scenario_site *sites;
    int n_sites;
    struct statement
        *statements; /* including expectations; sorted by time, then line */
    int n_statements;
    int n_expects;
    int64_t until_ms;
    int64_t hour_ms; /* how long the slot hours of HOURS are; 0: an hour */
    bool has_faults; /* messages can be lost, so heartbeats are needed */
};

/* Reads files. Paths are relative to the scenario's directory. */
struct scenario_files {
    /* Reads a whole file; the text must live until scenario_read returns. */
    int (*read)(void *arg, const char *path, const char **text, size_t *length,
                struct err *err);
    /* Reads a configuration file, or a directory of them, into `conf`. If NULL, one
     * file is read through `read`. */
    void (*read_conf)(void *arg, const char *path, struct conf *conf);
    void *arg;
};

/* Never NULL. It can be played if `conf.n_errors` is 0. */
struct scenario *scenario_read(const char *file, const char *text, size_t length,
                               const struct scenario_files *files);
void scenario_free(struct scenario *scenario);

/* The site's index; SCENARIO_BROKER if no site has that name. */
int scenario_find_site(const struct scenario *scenario, const char *name);
/* The statement that submits the job of that name, or the array of the element "a[3]";
 * NULL if there is none. `index` is the element's, 0 for a whole job. */
const struct statement *scenario_find_job(const struct scenario *scenario, int site,
                                          const char *name, int *index);

/* ---------------------------------------------------------------- scenario_line.c */

/* A line of a scenario as words, and words as values.
 *
 *     at 0 submit south run=10m cmd="a b"   # comment
 *
 * Words are separated by blanks. Text in quotes, at a word's beginning or after its
 * first `=`, may have blanks; the quotes are removed. `#` at a word's beginning starts
 * a comment.
 *
 * Ownership: words live in the arena. Units: milliseconds.
 * Errors: "what, expected ...". */

enum { SCENARIO_WORDS_MAX = 64 };

struct scenario_word {
    const char *text;
    bool is_quoted;
};

struct scenario_line {
    int number;
    const char *text; /* the line without comment and blanks around it */
    struct scenario_word words[SCENARIO_WORDS_MAX];
    int n_words;
};

int scenario_line_split(struct arena *arena, const char *text, size_t length,
                        struct scenario_line *line, struct err *err) MUST_CHECK;

/* "90", "1.5h", "10m". `unit_ms` is the unit of a number without a suffix. Whole
 * milliseconds. */
int scenario_line_duration(const char *word, int64_t unit_ms, int64_t *ms,
                           struct err *err) MUST_CHECK;
/* "0.1" or "10%", as parts of 10,000. */
int scenario_line_chance(const char *word, int *in_10000, struct err *err) MUST_CHECK;
/* A decimal number times `one`, rounded down. */
int scenario_line_decimal(const char *word, int64_t one, int64_t *out,
                          struct err *err) MUST_CHECK;

#endif
