/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h: a scenario as it is written: text in, sites with their configurations and
 * statements with their line numbers out. What becomes of it is play.h's.
 *
 *     broker  broker.conf
 *     site    south south.conf
 *     at 0    submit south queue=normal slots=1 run=10m name=a count=9
 *     until   6h
 *     expect  at 1h lease north/1/south consumer.available == 6
 *
 * Units: milliseconds from the start of the scenario. Ownership: all of it lives in the
 * scenario's arena.
 * Errors: nothing here fails; what is wrong in the scenario or in a file that it names
 * becomes a diagnostic of `said` (all of them are found in one reading), and one that
 * has errors must not be played.
 * Order: statements in file order; sites in file order.
 * Source: INTERFACES 4; docs/simulate.md is the manual. Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_H
#define SUBLET_SIM_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "broker/broker_config.h"
#include "model/msg.h"
#include "sim/scenario/swf.h"
#include "site/site_config.h"

enum {
    SCENARIO_SITES_MAX = 100,
    SCENARIO_STATEMENTS_MAX = 1000000, /* a generated one may be long */
    SCENARIO_BROKER = -1,              /* as a statement's site */
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
    STATEMENT_COMMAND, /* how long one of PRE_EXEC and the like takes */
    STATEMENT_HOST,    /* close, open */
    STATEMENT_DRAIN,   /* drain, undrain */
    STATEMENT_RELOAD,
    STATEMENT_PARTITION, /* faults, from here ... */
    STATEMENT_CRASH,
    STATEMENT_LOSS,
    STATEMENT_REPEAT,
    STATEMENT_DELAY,
    STATEMENT_REORDER,
    STATEMENT_CRASHES, /* at random */
    STATEMENT_RESTORE, /* ... to here */
    STATEMENT_BACKUP,
    STATEMENT_BATCH,
    STATEMENT_EXPECT,
    STATEMENT_FIRST_FAULT = STATEMENT_PARTITION,
    STATEMENT_LAST_FAULT = STATEMENT_RESTORE,
};

/* What `submit` says; `command` of a simulated job is its work. */
struct statement_submit {
    const char *name; /* "a", or "j<n>" */
    int count;        /* elements; 0: no array */
    int at_once;      /* elements that run at a time; 0: all */
    const char *queue, *user;
    int n_slots;   /* 0: as many as the queue says */
    int max_slots; /* it takes up to so many; 0: n_slots */
    int64_t run_ms;
    int64_t limit_ms; /* 0: none */
    int exit_code;
    bool is_rerunnable, is_exclusive, is_interactive;
    struct conf_words hosts; /* none: the queue's */
    const char *res;         /* requirement string; NULL: none */
    const char *after;       /* condition on other jobs; NULL: none */
    int64_t begin_ms;        /* not before; 0: at once */
    const char *project;     /* "": none */
    const char *group;       /* -G; "": none */
    const char *app;         /* application profile; "": the site's default */
    int priority;            /* 0: the default */
    bool is_resizable;       /* -ar */
    int64_t notify_ms;       /* how long its resize notification command runs; -1: it
                                has none */
    int notify_exit;         /* with which that exits */
};

/* One of the three: what the job is to have, what it gives up ("2@n1", "n2"), that it
 * asks for no more. With `hosts`, is_cancel goes along. */
struct statement_resize {
    int n_slots;
    struct conf_words hosts;
    bool is_cancel;
};

struct statement_workload {
    const char *path;
    const char *queue, *user; /* ""; the default, the trace's */
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
    const char *name;       /* of the thing */
    const char *field;      /* path into its JSON */
    const char *op, *value; /* as written; `value` without quotes */
    bool is_quoted;         /* a text, whatever it looks like */
};

struct statement {
    enum statement_kind kind;
    int line;
    const char *text; /* the line as written, without its comment */
    int64_t at_ms;
    int site;         /* index, or SCENARIO_BROKER */
    const char *name; /* control, move: job; queue: it; slots, close: host; reclaim:
                         provider or lease; drain: lease or site;
                         command: the program */
    enum control_action action;
    enum job_move move;
    enum queue_order order;
    const char *queue; /* of switch */
    enum reclaim_scope scope;
    bool is_on; /* close, drain; false: open, undrain */
    int number; /* slots, batch; loss, repeat, crashes: in 10,000; command: with which
                   it exits */
    int64_t ms; /* a time; reclaim: -1 is `default` */
    struct statement_submit submit;
    struct statement_resize resize;
    struct statement_workload workload;
    struct statement_expect expect;
    struct statement_reload *reload; /* of that kind alone */
    struct load_value *values;       /* load: what the host tells */
    int n_values;
};

struct scenario {
    struct arena arena;
    struct conf said; /* only its diagnostics: of the scenario and all its files */
    const char *file;
    struct broker_setup broker; /* where none stands: LOST_AFTER's default */
    struct scenario_site *sites;
    int n_sites;
    struct statement *statements; /* sorted by time, then line; expects among them */
    int n_statements;
    int n_expects;
    int64_t until_ms;
    bool has_faults; /* something in it can be lost: heartbeats matter */
};

/* Where the files come from. Paths are as the scenario's own directory makes them. */
struct scenario_files {
    /* A whole file; the text must live until scenario_read returns. */
    int (*read)(void *arg, const char *path, const char **text, size_t *length,
                struct err *err);
    /* Configuration: one file or a directory of them, into `conf`. NULL: one file,
     * through `read`. */
    void (*read_conf)(void *arg, const char *path, struct conf *conf);
    void *arg;
};

/* Never NULL. `said.n_errors` tells whether it can be played. */
struct scenario *scenario_read(const char *file, const char *text, size_t length,
                               const struct scenario_files *files);
void scenario_free(struct scenario *scenario);

/* The site's index; SCENARIO_BROKER if no site has that name. */
int scenario_find_site(const struct scenario *scenario, const char *name);
/* The statement that submits the job of that name, or the array of the element "a[3]";
 * NULL: no statement does. `index` is the element's, 0 for a whole job. */
const struct statement *scenario_find_job(const struct scenario *scenario, int site,
                                          const char *name, int *index);

#endif
