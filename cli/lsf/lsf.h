/* SPDX-License-Identifier: Apache-2.0 */
/* lsf.h: the commands of LSF (bsub, bjobs, bkill, ...) as names of one program.
 *
 * A row of lsf_commands is a command: its options and what becomes of each of them,
 * and the function that runs it. A row of a table of fields is a field of `-o` and a
 * column of the plain output. No command knows more: requests, waiting, terminals and
 * listings are those of `sublet`.
 *
 * Ownership: everything is in the call's arena or static. Exit status: 0; LSF_FAILED;
 * of bsub -K and -I that of the job. Source: LSF's command reference 10.1. Layer: cli.
 */
#ifndef SUBLET_CLI_LSF_LSF_H
#define SUBLET_CLI_LSF_LSF_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/call.h"
#include "cli/listing/listing.h"

enum { LSF_FAILED = 255 };

enum lsf_option_kind {
    LSF_END,     /* of a table */
    LSF_TAKEN,   /* carried out */
    LSF_IGNORED, /* without a consequence for the job; `what` says why */
    LSF_NOTED,   /* left out, and standard error says so: `what` */
    LSF_REFUSED, /* nothing is done; `what` says what to do instead */
};

struct lsf_option {
    const char *name, *value; /* value NULL: takes none */
    enum lsf_option_kind kind;
    const char *to; /* the option that the functions of sublet know; NULL: `name` */
    const char *what;
};

struct lsf_command {
    const char *name, *operands;
    const char *sublet; /* what does the same, for the guide; "": nothing */
    const char *what;
    const struct lsf_option *options; /* NULL: none */
    enum call_words words;
    int (*run)(struct call *call); /* NULL: not built, `what` says so */
};

extern const struct lsf_command lsf_table_commands[];

/* ---- lsf_line.c: the command line */

/* Reads argv[1] and on by the command's row. Returns CALL_OK, or LSF_FAILED after a
 * line on standard error. */
int lsf_line_read(struct call *call, const struct lsf_command *command, int argc,
                  char **argv);
/* LSF_FAILED, after a sentence, if one of the options is refused. */
int lsf_line_refuse(const struct call *call);
/* Judges the options that were given and renames them to those of sublet. For bsub
 * after the script's options have been read. */
int lsf_line_judge(struct call *call);
const struct lsf_command *lsf_line_find(const struct lsf_command *commands,
                                        const char *name);
/* Adds an option as if it had been given before the others. */
void lsf_line_add(struct call *call, const char *option, const char *value);

/* ---- lsf_esub.c */

/* Runs the programs of the site that check and change the options of bsub and bmod:
 * LSF_SERVERDIR/esub, then those of LSB_ESUB_METHOD and of -a. `command`: that of the
 * job, which may be changed; NULL: of bmod. Returns CALL_OK, or LSF_FAILED after a
 * sentence. */
int lsf_esub_run(struct call *call, const char **command);

/* ---- lsf_print.c: rows as LSF prints them */

/* The text of a field; "" or NULL: it has none, shown as "-". */
typedef const char *lsf_format_fn(struct arena *arena, const json_t *row,
                                  const char *path);

struct lsf_field {
    const char *name, *alias; /* of -o, in lower case; alias NULL: none */
    int width;                /* with -o; 0: as wide as its values */
    const char *heading;
    const char *path;
    lsf_format_fn *format;
};

struct lsf_listing {
    const char *command, *things;   /* "bjobs", "JOBS": of -json */
    const struct lsf_field *fields; /* ended by a NULL name */
    const char
        *layout; /* the plain output in the words of -o; "name:=7" is never cut */
    const char *nothing; /* said if there is no row */
};

/* Prints the rows by -o, -json, -noheader, -w or -W. Returns CALL_OK or LSF_FAILED. */
int lsf_print_rows(struct call *call, const struct lsf_listing *listing,
                   const json_t *rows);
/* Takes -o from this variable, unless the line has -o or one of the options `layouts`,
 * as "-l -w". */
void lsf_print_default(struct call *call, const char *variable, const char *layouts);
/* The same by another layout. */
int lsf_print_layout(struct call *call, const struct lsf_listing *listing,
                     const char *layout, const json_t *rows);
/* A text with LSF's breaks at 80 columns; with -UF without. */
void lsf_print_paragraph(struct call *call, const char *paragraph);
void lsf_print_separator(void); /* between two jobs, hosts or queues in full */

/* ---- lsf_format.c: values of JSON as LSF words them */

lsf_format_fn lsf_format_text, lsf_format_plain, lsf_format_time, lsf_format_seconds,
    lsf_format_job_id, lsf_format_job_index, lsf_format_exec_host,
    lsf_format_first_host, lsf_format_plan_finish, lsf_format_from_host, lsf_format_mem,
    lsf_format_limit_size, lsf_format_limit_minutes, lsf_format_limit_time,
    lsf_format_finish_time, lsf_format_time_left, lsf_format_yes, lsf_format_used,
    lsf_format_count, lsf_format_joined, lsf_format_index, lsf_format_percent,
    lsf_format_size, lsf_format_names, lsf_format_exit_reason, lsf_format_each_used,
    lsf_format_complete, lsf_format_cpu_efficiency, lsf_format_idle_factor,
    lsf_format_whole, lsf_format_kill_reason, lsf_format_priority,
    lsf_format_resource_order, lsf_format_cpu_factor, lsf_format_mem_efficiency;
const char *lsf_format_get(const json_t *row, const char *path); /* "" without one */
/* Seconds since 1970 of an RFC 3339 instant; -1: none. */
int64_t lsf_format_instant(const json_t *row, const char *path);
/* TIME0,TIME1 of bacct and bhist, as "2026/11/23/08:00,." or "23,24/12:00": whether the
 * instant `at` lies within. `*is_valid` becomes false if the text is no such span. */
bool lsf_format_is_within(const char *span, int64_t at, bool *is_valid);
/* "Mon Nov 23 02:31:22" */
const char *lsf_format_long_time(struct arena *arena, int64_t seconds);

extern const struct lsf_listing lsf_fields_models, lsf_fields_types, lsf_fields_slots,
    lsf_fields_jobs, lsf_fields_hosts, lsf_fields_queues, lsf_fields_users,
    lsf_fields_load, lsf_fields_lshosts, lsf_fields_apps, lsf_fields_job_groups,
    lsf_fields_hist, lsf_fields_limits, lsf_fields_shared, lsf_fields_values,
    lsf_fields_groups, lsf_fields_host_groups, lsf_fields_units, lsf_fields_resources;

/* ---- lsf_select.c: which jobs are meant */

/* The rows that the operands from `first` on and -u -q -m -J -P -app -g -G name;
 * without any of them the caller's. Ids that do not exist are said on standard error,
 * and
 * `*n_missing` is their number. */
int lsf_select_rows(struct call *call, int first, bool with_ended,
                    struct listing *listing, int *n_missing);
/* Replaces the operands from `first` on by the ids of the unfinished jobs that are
 * meant, as bkill does: without an id the latest one that the options select, with 0
 * all. */
int lsf_select_jobs(struct call *call, int first);

/* ---- the commands, each in the file of its stem */

int lsf_submit_run(struct call *call);
int lsf_submit_modify(struct call *call);
int lsf_jobs_run(struct call *call);
int lsf_control_kill(struct call *call);
int lsf_control_stop(struct call *call);
int lsf_control_resume(struct call *call);
int lsf_control_requeue(struct call *call);
int lsf_control_switch(struct call *call);
int lsf_control_top(struct call *call);
int lsf_control_bottom(struct call *call);
int lsf_control_resize(struct call *call);
int lsf_control_peek(struct call *call);
/* badmin; its subcommands are a table in the shape of options. */
int lsf_admin_run(struct call *call);
extern const struct lsf_option lsf_admin_subcommands[];
int lsf_control_wait(struct call *call);
int lsf_job_group_list(struct call *call);
int lsf_job_group_add(struct call *call);
int lsf_job_group_modify(struct call *call);
int lsf_job_group_delete(struct call *call);
int lsf_hist_run(struct call *call);
/* bhist -l: each job with its events; bhist -t: the events of all jobs by time. */
int lsf_event_lives(struct call *call, const json_t *rows);
int lsf_event_times(struct call *call, const json_t *rows);
int lsf_hist_account(struct call *call);
int lsf_listing_hosts(struct call *call);
int lsf_listing_queues(struct call *call);
int lsf_listing_users(struct call *call);
int lsf_listing_load(struct call *call);
int lsf_listing_lshosts(struct call *call);
int lsf_listing_limits(struct call *call);
int lsf_listing_shared(struct call *call);
int lsf_listing_slots(struct call *call);
int lsf_listing_id(struct call *call);
int lsf_listing_clusters(struct call *call);
int lsf_listing_apps(struct call *call);
int lsf_listing_user_groups(struct call *call);
int lsf_listing_host_groups(struct call *call);
int lsf_listing_partitions(struct call *call);
int lsf_listing_resources(struct call *call);
int lsf_listing_params(struct call *call);

/* ---- lsf_condense.c: condensed host groups and compute units */

/* What bhosts shows: a row for each condensed group in place of its hosts, where the
 * first of them stands. Slots and memory are added up; other fields have a value if
 * all of the hosts have the same. The status is ok if one host is ok, else closed if
 * one is closed, else unavail. With `has_counts` (bhosts -w) the numbers of hosts that
 * are ok, unavail, unreach and busy follow it, unless it is closed. Borrowed. */
json_t *lsf_condense_hosts(struct arena *arena, const json_t *hosts, bool has_counts);
/* Makes the condensed groups of these hosts, each once, the operands of the call. */
void lsf_condense_name(struct call *call, const json_t *hosts);

/* ---- lsf_long.c: -l of bhosts and bqueues */

int lsf_long_hosts(struct call *call, const json_t *rows);
int lsf_long_queues(struct call *call, const json_t *rows);

/* ---- lsf_manual.c: what is made from the table */

int lsf_manual_print(void);
int lsf_manual_markdown(void);
int lsf_manual_names(void);
void lsf_manual_help(const struct lsf_command *command);

#endif
