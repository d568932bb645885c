/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_event.c: bhist -l and -t: events of jobs as LSF words them. Source: LSF's bhist.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lsf/lsf.h"

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static const char *with_reason(struct arena *arena, const char *text,
                               const json_t *event)
{
    const char *reason = text_of(event, "reason");
    return reason[0] != '\0' ? arena_printf(arena, "%s: %s", text, reason) : text;
}

/* "Dispatched 4 Task(s) on Host(s) <4*n1>, Allocated 4 Slot(s) on Host(s) <4*n1>" */
static const char *dispatch_text(struct arena *arena, const json_t *row,
                                 const json_t *event)
{
    const char *hosts = lsf_format_exec_host(arena, event, "hosts");
    const char *lease = text_of(event, "lease"), *host;
    json_int_t n_slots = 0;
    json_t *slots;
    (void)row;
    json_object_foreach(json_object_get(event, "hosts"), host, slots)
    {
        n_slots += json_integer_value(slots);
    }
    return arena_printf(arena,
                        "Dispatched %lld Task(s) on Host(s) <%s>, Allocated %lld "
                        "Slot(s) on Host(s) <%s>%s%s%s",
                        (long long)n_slots, hosts, (long long)n_slots, hosts,
                        lease[0] != '\0' ? ", Lease <" : "", lease,
                        lease[0] != '\0' ? ">" : "");
}

static const char *end_text(struct arena *arena, const json_t *row, const json_t *event)
{
    const json_t *code = json_object_get(event, "exit_code");
    double cpu = json_number_value(json_object_get(row, "cpu_s"));
    const char *reason = text_of(event, "reason");
    if (strcmp(text_of(event, "state"), "DONE") == 0) {
        return arena_printf(
            arena, "Done successfully. The CPU time used is %.1f seconds", cpu);
    }
    const char *text = json_is_integer(code)
                           ? arena_printf(arena, "Exited with exit code %lld",
                                          (long long)json_integer_value(code))
                           : "Exited";
    text = arena_printf(arena, "%s. The CPU time used is %.1f seconds", text, cpu);
    bool is_plain = strncmp(reason, "exited with code ", 17) == 0;
    return reason[0] == '\0' || is_plain
               ? text
               : arena_printf(arena, "%s; Completed <exit>; %s", text, reason);
}

static const char *submit_text(struct arena *arena, const json_t *row,
                               const json_t *event)
{
    const char *hold = strcmp(text_of(event, "state"), "PSUSP") == 0 ? " (held)" : "";
    return arena_printf(arena, "Submitted from host <%s>, to Queue <%s>%s",
                        lsf_format_from_host(arena, row, ""), text_of(row, "queue"),
                        hold);
}

static const char *start_text(struct arena *arena, const json_t *row,
                              const json_t *event)
{
    (void)row;
    return arena_printf(arena, "Starting on Host(s) <%s>",
                        lsf_format_exec_host(arena, event, "hosts"));
}

static const char *resize_text(struct arena *arena, const json_t *row,
                               const json_t *event)
{
    (void)row;
    return with_reason(arena,
                       arena_printf(arena, "Resized to <%s>",
                                    lsf_format_exec_host(arena, event, "hosts")),
                       event);
}

static const char *switch_text(struct arena *arena, const json_t *row,
                               const json_t *event)
{
    (void)row;
    return arena_printf(arena, "Switched to Queue <%s>", text_of(event, "reason"));
}

static const char *modify_text(struct arena *arena, const json_t *row,
                               const json_t *event)
{
    return arena_printf(arena, "Parameters of Job are changed: %s",
                        text_of(event, "reason")[0] != '\0' ? text_of(event, "reason")
                                                            : text_of(row, "queue"));
}

static const char *run_end_text(struct arena *arena, const json_t *row,
                                const json_t *event)
{
    const json_t *code = json_object_get(event, "exit_code");
    (void)row;
    return with_reason(arena,
                       json_is_integer(code)
                           ? arena_printf(arena, "Exited with exit code %lld",
                                          (long long)json_integer_value(code))
                           : "Its run ended",
                       event);
}

static const char *accept_text(struct arena *arena, const json_t *row,
                               const json_t *event)
{
    (void)row;
    return arena_printf(arena, "Accepted by the provider, Lease <%s>",
                        text_of(event, "lease"));
}

/* With `make` the text is made, else it is `text` and the reason. */
static const struct {
    const char *event, *text;
    const char *(*make)(struct arena *arena, const json_t *row, const json_t *event);
} texts[] = {
    {"submit", "", submit_text},
    {"dispatch", "", dispatch_text},
    {"start", "", start_text},
    {"suspend", "Suspended", NULL},
    {"resume", "Running", NULL},
    {"kill", "Signal <KILL> requested", NULL},
    {"requeue", "Pending", NULL},
    {"resize", "", resize_text},
    {"switch", "", switch_text},
    {"modify", "", modify_text},
    {"move", "Moved", NULL},
    {"unknown", "Unknown; unable to reach the execution host", NULL},
    {"known", "Running", NULL},
    {"run_end", "", run_end_text},
    {"end", "", end_text},
    {"accept", "", accept_text},
};

/* "Thu Nov 26 03:29:23: Starting on Host(s) <n1>;" */
static const char *event_text(struct arena *arena, const json_t *row,
                              const json_t *event, const char *before)
{
    const char *name = text_of(event, "event"), *what = name;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i].event, name) == 0) {
            what = texts[i].make != NULL ? texts[i].make(arena, row, event)
                                         : with_reason(arena, texts[i].text, event);
        }
    }
    return arena_printf(arena, "%s: %s%s;",
                        lsf_format_long_time(arena, lsf_format_instant(event, "at")),
                        before, what);
}

/* ---- -l */

static const char *add(struct arena *arena, const char *text, const char *label,
                       const char *value)
{
    return value[0] == '\0' ? text
                            : arena_printf(arena, "%s, %s <%s>", text, label, value);
}

static void print_life(struct call *call, const json_t *row)
{
    static const char *const states[] = {"pend_s",  "psusp_s", "run_s",  "ususp_s",
                                         "ssusp_s", "unkwn_s", "total_s"};
    struct arena *arena = &call->arena;
    const json_t *events = json_object_get(row, "events"), *event;
    int64_t last = 0;
    size_t at;
    const char *text =
        arena_printf(arena, "Job <%s>", lsf_format_plain(arena, row, "id"));
    text = add(arena, text, "Job Name", text_of(row, "name"));
    text = add(arena, text, "User", text_of(row, "user"));
    text = add(arena, text, "Project", text_of(row, "project"));
    text = add(arena, text, "Command", text_of(row, "command"));
    putchar('\n');
    lsf_print_paragraph(call, text);
    json_array_foreach(events, at, event)
    {
        lsf_print_paragraph(call, event_text(arena, row, event, ""));
        last = lsf_format_instant(event, "at");
    }
    printf("\nSummary of time in seconds spent in various states by  %s\n",
           lsf_format_long_time(arena, last));
    printf("  PEND     PSUSP    RUN      USUSP    SSUSP    UNKWN    TOTAL\n");
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        bool is_last = i + 1 == sizeof(states) / sizeof(states[0]);
        printf(i == 0 ? "  %-*s" : " %-*s", is_last ? 0 : 8,
               lsf_format_whole(arena, row, states[i]));
    }
    putchar('\n');
}

int lsf_event_lives(struct call *call, const json_t *rows)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (i > 0) {
            lsf_print_separator();
        }
        print_life(call, row);
    }
    return call_finish_output();
}

/* ---- -t */

struct moment {
    const json_t *row, *event;
    const char *at; /* RFC 3339, so that texts are in the order of time */
};

static int compare(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    int order = strcmp(x->at, y->at);
    return order != 0 ? order : x->event < y->event ? -1 : x->event > y->event;
}

int lsf_event_times(struct call *call, const json_t *rows)
{
    const json_t *row, *event;
    const char *span = call_value(call, "-T");
    struct arena *arena = &call->arena;
    struct moment *all;
    size_t i, at, count = 0;
    bool is_valid = true;
    json_array_foreach(rows, i, row)
    {
        count += json_array_size(json_object_get(row, "events"));
    }
    all = arena_alloc(arena, count + 1, sizeof(*all));
    count = 0;
    json_array_foreach(rows, i, row)
    {
        json_array_foreach(json_object_get(row, "events"), at, event)
        {
            all[count++] = (struct moment){row, event, text_of(event, "at")};
        }
    }
    qsort(all, count, sizeof(*all), compare);
    for (i = 0; i < count; i++) {
        const char *id = lsf_format_plain(arena, all[i].row, "id");
        bool is_in = span == NULL ||
                     lsf_format_is_within(span, lsf_format_instant(all[i].event, "at"),
                                          &is_valid);
        if (is_in) {
            lsf_print_paragraph(call, event_text(arena, all[i].row, all[i].event,
                                                 arena_printf(arena, "Job <%s> ", id)));
        }
    }
    if (!is_valid) {
        call_fail("bhist: -T: expected times as [[YEAR/]MONTH/]DAY/HOUR:MINUTE");
        return LSF_FAILED;
    }
    return call_finish_output();
}
