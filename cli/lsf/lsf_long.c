/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_long.c: bhosts -l and bqueues -l: paragraphs about each host and each queue.
 * Source: LSF's bhosts and bqueues. */
#include <stdio.h>
#include <string.h>

#include "cli/lsf/lsf.h"

/* ---- load indices in columns */

static const struct {
    const char *name;
    int width;
} indices[] = {{"r15s", 6}, {"r1m", 6}, {"r15m", 6}, {"ut", 5},  {"pg", 7}, {"io", 6},
               {"ls", 5},   {"it", 6},  {"tmp", 7},  {"swp", 7}, {"mem", 7}};
enum { INDICES = sizeof(indices) / sizeof(indices[0]) };

static void print_names(void)
{
    printf("%-11s", "");
    for (int i = 0; i < INDICES; i++) {
        printf("%*s", indices[i].width, indices[i].name);
    }
    putchar('\n');
}

static const char *value_text(struct arena *arena, const json_t *row, const char *name)
{
    static const struct {
        const char *names;
        lsf_format_fn *format;
    } kinds[] = {{"tmp swp mem", lsf_format_size},
                 {"ut", lsf_format_percent},
                 {"ls it", lsf_format_plain},
                 {"io", lsf_format_whole}};
    const json_t *value = json_object_get(row, name);
    lsf_format_fn *format = lsf_format_index;
    if (!json_is_number(value)) {
        return "-";
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        format = strstr(kinds[i].names, name) != NULL ? kinds[i].format : format;
    }
    return format(arena, row, name);
}

static void print_values(struct arena *arena, const char *label, const json_t *row)
{
    printf(" %-10s", label);
    for (int i = 0; i < INDICES; i++) {
        printf("%*s", indices[i].width, value_text(arena, row, indices[i].name));
    }
    putchar('\n');
}

/* loadSched and loadStop of a host or a queue; without thresholds both are empty. */
static void print_thresholds(struct arena *arena, const json_t *row)
{
    static const char *const labels[] = {"loadSched", "loadStop"};
    const json_t *thresholds = json_object_get(row, "thresholds"), *at;
    size_t i;
    print_names();
    for (size_t k = 0; k < sizeof(labels) / sizeof(labels[0]); k++) {
        const json_t *found = NULL;
        json_array_foreach(thresholds, i, at)
        {
            if (strcmp(lsf_format_get(at, "threshold"), labels[k]) == 0) {
                found = at;
            }
        }
        print_values(arena, labels[k], found);
    }
}

static const char *or_dash(const char *text)
{
    return text[0] != '\0' ? text : "-";
}

/* ---- bhosts -l */

int lsf_long_hosts(struct call *call, const json_t *rows)
{
    struct arena *arena = &call->arena;
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        printf("%sHOST  %s\n", i > 0 ? "\n" : "", lsf_format_get(row, "host"));
        printf("%-15s %5s %5s %6s %6s %6s %6s %6s %6s %s\n", "STATUS", "CPUF", "JL/U",
               "MAX", "NJOBS", "RUN", "SSUSP", "USUSP", "RSV", "DISPATCH_WINDOW");
        printf(
            "%-15s %5.2f %5s %6s %6s %6s %6s %6s %6s %s\n",
            lsf_format_get(row, "status"),
            json_number_value(json_object_get(row, "cpuf")),
            or_dash(lsf_format_plain(arena, row, "jl_u")),
            or_dash(lsf_format_plain(arena, row, "max")),
            lsf_format_count(arena, row, "njobs"), lsf_format_count(arena, row, "run"),
            lsf_format_count(arena, row, "ssusp"),
            lsf_format_count(arena, row, "ususp"), lsf_format_count(arena, row, "rsv"),
            or_dash(lsf_format_get(row, "dispatch_window")));
        printf("\n CURRENT LOAD USED FOR SCHEDULING:\n");
        print_names();
        print_values(arena, "Total", json_object_get(row, "load"));
        print_values(arena, "Reserved", json_object_get(row, "reserved"));
        printf("\n LOAD THRESHOLD USED FOR SCHEDULING:\n");
        print_thresholds(arena, row);
    }
    if (json_array_size(rows) == 0) {
        return lsf_print_rows(call, &lsf_fields_hosts, rows);
    }
    return call_finish_output();
}

/* ---- bqueues -l */

/* Limits as "RUNLIMIT" above "60.0 min"; times have minutes, sizes their unit. */
static void print_limits(struct arena *arena, const json_t *limits, const char *heading)
{
    static const struct {
        const char *key, *name;
        bool is_time, is_size;
    } kinds[] = {{"run_s", "RUNLIMIT", true, false},
                 {"cpu_s", "CPULIMIT", true, false},
                 {"file_kib", "FILELIMIT", false, true},
                 {"data_kib", "DATALIMIT", false, true},
                 {"stack_kib", "STACKLIMIT", false, true},
                 {"core_kib", "CORELIMIT", false, true},
                 {"mem_kib", "MEMLIMIT", false, true},
                 {"swap_kib", "SWAPLIMIT", false, true},
                 {"processes", "PROCLIMIT", false, false},
                 {"threads", "THREADLIMIT", false, false}};
    const char *names = "", *values = "";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *value =
            kinds[i].is_time   ? lsf_format_limit_time(arena, limits, kinds[i].key)
            : kinds[i].is_size ? lsf_format_limit_size(arena, limits, kinds[i].key)
                               : lsf_format_plain(arena, limits, kinds[i].key);
        if (value[0] != '\0') {
            names = arena_printf(arena, "%s %-14s", names, kinds[i].name);
            values = arena_printf(arena, "%s %-14s", values, value);
        }
    }
    if (names[0] != '\0') {
        printf("\n%s:\n%s\n%s\n", heading, names, values);
    }
}

static void print_policies(const json_t *row)
{
    static const char *const words[][2] = {{"exclusive", "EXCLUSIVE"},
                                           {"backfill", "BACKFILL"},
                                           {"rerunnable", "RERUNNABLE"}};
    const char *interactive = lsf_format_get(row, "interactive");
    bool has_any = json_is_array(json_object_get(row, "shares"));
    printf("\nSCHEDULING POLICIES:  %s", has_any ? "FAIRSHARE" : "");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (json_is_true(json_object_get(row, words[i][0]))) {
            printf("%s%s", has_any ? "  " : "", words[i][1]);
            has_any = true;
        }
    }
    if (strcmp(interactive, "yes") != 0) {
        printf("%s%s", has_any ? "  " : "",
               strcmp(interactive, "no") == 0 ? "NO_INTERACTIVE" : "ONLY_INTERACTIVE");
    }
    putchar('\n');
}

/* What a queue has beside its limits, each on a line if it has it. */
static void print_others(const json_t *row)
{
    static const char *const keys[][2] = {
        {"run_window", "RUN_WINDOW"},
        {"dispatch_window", "DISPATCH_WINDOW"},
        {"preempts", "PREEMPTION"},
        {"slot_pool", "SLOT_POOL"},
        {"pre_exec", "PRE_EXEC"},
        {"post_exec", "POST_EXEC"},
        {"job_starter", "JOB_STARTER"},
        {"requeue_exit_values", "REQUEUE_EXIT_VALUES"},
        {"success_exit_values", "SUCCESS_EXIT_VALUES"},
        {"stop_cond", "STOP_COND"},
        {"resume_cond", "RESUME_COND"}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = lsf_format_get(row, keys[i][0]);
        if (text[0] != '\0') {
            printf("%s:  %s\n", keys[i][1], text);
        }
    }
}

static void print_shares(struct arena *arena, const json_t *row)
{
    const json_t *shares = json_object_get(row, "shares"), *at;
    size_t i;
    if (json_array_size(shares) == 0) {
        return;
    }
    printf("\nSHARE_INFO_FOR: %s/\n%-15s %7s %9s %8s\n", lsf_format_get(row, "queue"),
           "USER/GROUP", "SHARES", "PRIORITY", "STARTED");
    json_array_foreach(shares, i, at)
    {
        printf("%-15s %7s %9s %8s\n", lsf_format_get(at, "user"),
               or_dash(lsf_format_plain(arena, at, "shares")),
               or_dash(lsf_format_plain(arena, at, "priority")),
               or_dash(lsf_format_plain(arena, at, "started")));
    }
}

static void print_queue(struct arena *arena, const json_t *row)
{
    const char *users = lsf_format_get(row, "users");
    printf("\nQUEUE: %s\n  -- %s\n\nPARAMETERS/STATISTICS\n",
           lsf_format_get(row, "queue"),
           lsf_format_get(row, "description")[0] != '\0'
               ? lsf_format_get(row, "description")
               : "No description provided.");
    printf("PRIO NICE STATUS            MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP   "
           "RSV\n");
    printf("%3s %4s  %-16s %4s %4s %4s %4s %5s %5s %5s %5s %5s\n",
           lsf_format_plain(arena, row, "priority"),
           lsf_format_count(arena, row, "limits.nice"), lsf_format_get(row, "status"),
           or_dash(lsf_format_plain(arena, row, "max")),
           or_dash(lsf_format_plain(arena, row, "jl_u")),
           or_dash(lsf_format_plain(arena, row, "jl_p")),
           or_dash(lsf_format_plain(arena, row, "jl_h")),
           lsf_format_count(arena, row, "njobs"), lsf_format_count(arena, row, "pend"),
           lsf_format_count(arena, row, "run"), lsf_format_count(arena, row, "susp"),
           lsf_format_count(arena, row, "rsv"));
    const char *delay = lsf_format_count(arena, row, "new_job_delay_s");
    if (strcmp(delay, "0") != 0) {
        printf("Schedule delay for a new job is %s seconds\n", delay);
    }
    print_limits(arena, json_object_get(row, "default_limits"), "DEFAULT LIMITS");
    print_limits(arena, json_object_get(row, "limits"), "MAXIMUM LIMITS");
    printf("\nSCHEDULING PARAMETERS\n");
    print_thresholds(arena, row);
    print_policies(row);
    printf("USERS: %s\nHOSTS:  %s\n", strcmp(users, "all") == 0 ? "all" : users,
           lsf_format_get(row, "hosts"));
    print_others(row);
    print_shares(arena, row);
}

int lsf_long_queues(struct call *call, const json_t *rows)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (i > 0) {
            lsf_print_separator();
        }
        print_queue(&call->arena, row);
    }
    if (json_array_size(rows) == 0) {
        return lsf_print_rows(call, &lsf_fields_queues, rows);
    }
    return call_finish_output();
}
