/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_format.c: values of a site's JSON as LSF words them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "cli/lsf/lsf.h"

enum { KIB = 1024 };

const char *lsf_format_get(const json_t *row, const char *path)
{
    const char *text = json_string_value(columns_find(row, path));
    return text != NULL ? text : "";
}

static bool is_there(const json_t *value)
{
    return value != NULL && !json_is_null(value);
}

const char *lsf_format_text(struct arena *arena, const json_t *row, const char *path)
{
    (void)arena;
    return lsf_format_get(row, path);
}

const char *lsf_format_plain(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return is_there(value) ? format_plain(arena, value) : "";
}

/* ---- jobs */

/* The number of "12[3]"; arrays are told apart by their names. */
const char *lsf_format_job_id(struct arena *arena, const json_t *row, const char *path)
{
    const char *id = lsf_format_plain(arena, row, path);
    return arena_strn(arena, id, strcspn(id, "["));
}

const char *lsf_format_job_index(struct arena *arena, const json_t *row,
                                 const char *path)
{
    const char *id = lsf_format_plain(arena, row, path);
    const char *index = strchr(id, '[');
    return index == NULL ? "0" : arena_strn(arena, index + 1, strlen(index) - 2);
}

/* "2*hostA:hostB". */
const char *lsf_format_exec_host(struct arena *arena, const json_t *row,
                                 const char *path)
{
    const char *text = "", *host;
    json_t *slots;
    json_object_foreach(columns_find(row, path), host, slots)
    {
        long long count = json_integer_value(slots);
        text = count > 1
                   ? arena_printf(arena, "%s%s%lld*%s", text, text[0] ? ":" : "", count,
                                  host)
                   : arena_printf(arena, "%s%s%s", text, text[0] ? ":" : "", host);
    }
    return text;
}

const char *lsf_format_first_host(struct arena *arena, const json_t *row,
                                  const char *path)
{
    const char *host;
    json_t *slots;
    json_object_foreach(columns_find(row, path), host, slots)
    {
        return arena_str(arena, host);
    }
    return "";
}

/* Commands reach a site by its socket, so that jobs are submitted on its machine. */
const char *lsf_format_from_host(struct arena *arena, const json_t *row,
                                 const char *path)
{
    char name[HOST_NAME_SIZE] = "";
    (void)row;
    (void)path;
    return gethostname(name, sizeof(name) - 1) == 0 ? arena_str(arena, name) : "";
}

/* ---- times */

int64_t lsf_format_instant(const json_t *row, const char *path)
{
    struct tm tm = {.tm_isdst = 0};
    const char *text = lsf_format_get(row, path);
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) == NULL) {
        return -1;
    }
    return (int64_t)timegm(&tm);
}

static const char *time_text(struct arena *arena, int64_t seconds, bool is_long)
{
    char text[64];
    time_t at = (time_t)seconds;
    struct tm tm;
    if (seconds < 0 || localtime_r(&at, &tm) == NULL) {
        return "";
    }
    if (is_long) {
        strftime(text, sizeof(text), "%a %b %e %H:%M:%S", &tm);
    } else {
        strftime(text, sizeof(text), "%b %e %H:%M", &tm);
    }
    return arena_str(arena, text);
}

const char *lsf_format_time(struct arena *arena, const json_t *row, const char *path)
{
    return time_text(arena, lsf_format_instant(row, path), false);
}

const char *lsf_format_long_time(struct arena *arena, int64_t seconds)
{
    return time_text(arena, seconds, true);
}

const char *lsf_format_seconds(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return json_is_number(value)
               ? arena_printf(arena, "%.0f second(s)", json_number_value(value))
               : "";
}

/* The run limit on the hosts of a job in seconds; 0: none. */
static double run_limit(const json_t *row)
{
    json_t *limit = columns_find(row, "limits.run_effective_s");
    return json_number_value(limit != NULL ? limit : columns_find(row, "limits.run_s"));
}

/* When the run limit ends a job that starts at that instant, or -1. */
static int64_t limit_end(const json_t *row, const char *start_path)
{
    int64_t start = lsf_format_instant(row, start_path);
    double limit = run_limit(row);
    return start >= 0 && limit > 0 ? start + (int64_t)limit : -1;
}

/* "Nov 23 02:31 L"; L: known, or by the run limit; X: the limit is over. */
const char *lsf_format_finish_time(struct arena *arena, const json_t *row,
                                   const char *path)
{
    int64_t end = lsf_format_instant(row, path);
    const char *mark = "L";
    if (end < 0) {
        end = limit_end(row, "start_at");
        mark = end >= 0 && end < (int64_t)time(NULL) ? "X" : "L";
    }
    const char *text = time_text(arena, end, false);
    return text[0] != '\0' ? arena_printf(arena, "%s %s", text, mark) : "";
}

const char *lsf_format_plan_finish(struct arena *arena, const json_t *row,
                                   const char *path)
{
    return time_text(arena, limit_end(row, path), false);
}

/* "1:30 L", in hours and minutes. */
const char *lsf_format_time_left(struct arena *arena, const json_t *row,
                                 const char *path)
{
    bool is_ended = lsf_format_get(row, path)[0] != '\0';
    int64_t end = is_ended ? -1 : limit_end(row, "start_at");
    if (end < 0) {
        return "";
    }
    int64_t left = end - (int64_t)time(NULL);
    left = left > 0 ? left : 0;
    return arena_printf(arena, "%lld:%lld L", (long long)(left / 3600),
                        (long long)(left / 60 % 60));
}

/* CPU time by run time; -1: one of them is not known, or the job has not run. */
static double cpu_share(const json_t *row)
{
    json_t *cpu = columns_find(row, "cpu_s"), *ran = columns_find(row, "run_s");
    double run_s = json_number_value(ran);
    return json_is_number(cpu) && run_s > 0 ? json_number_value(cpu) / run_s : -1;
}

/* "0.25". */
const char *lsf_format_idle_factor(struct arena *arena, const json_t *row,
                                   const char *path)
{
    double share = cpu_share(row);
    (void)path;
    return share >= 0 ? arena_printf(arena, "%.2f", share) : "";
}

/* Of all slots: "12.50%". */
const char *lsf_format_cpu_efficiency(struct arena *arena, const json_t *row,
                                      const char *path)
{
    double share = cpu_share(row), n_slots = json_number_value(columns_find(row, path));
    return share >= 0 && n_slots > 0
               ? arena_printf(arena, "%.2f%%", share / n_slots * 100)
               : "";
}

/* The part of the run limit that is over: "12.50% L". */
const char *lsf_format_complete(struct arena *arena, const json_t *row,
                                const char *path)
{
    double limit = run_limit(row);
    json_t *ran = columns_find(row, path);
    if (strcmp(lsf_format_get(row, "state"), "DONE") == 0) {
        return "100.00% L";
    }
    if (limit <= 0 || !json_is_number(ran) || lsf_format_instant(row, "start_at") < 0) {
        return "";
    }
    double part = json_number_value(ran) / limit * 100;
    return arena_printf(arena, "%.2f%% L", part < 100 ? part : 100.0);
}

const char *lsf_format_whole(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return json_is_number(value) ? arena_printf(arena, "%.0f", json_number_value(value))
                                 : "0";
}

/* "[[YEAR/]MONTH/]DAY/HOUR:MINUTE", the past one; a missing one is the begin or now. */
static int64_t read_instant(const char *text, size_t length, bool is_end,
                            bool *is_valid)
{
    int fields[5], count = 0, used = 0;
    time_t now = time(NULL);
    struct tm tm;
    if (length == 0 || (length == 1 && text[0] == '.')) {
        return is_end || length == 1 ? (int64_t)now : 0;
    }
    localtime_r(&now, &tm);
    const char *end = text + length;
    while (text < end && count < 5 &&
           sscanf(text, "%4d%n", &fields[count], &used) == 1) {
        text += used;
        count++;
        text += text < end && strchr("/:", *text) != NULL;
    }
    *is_valid = *is_valid && text == end && count > 0;
    bool has_clock = count > 1 && memchr(end - length, ':', length) != NULL;
    int n_date = has_clock ? count - 2 : count;
    tm.tm_sec = is_end && !has_clock ? 59 : 0;
    tm.tm_min = has_clock ? fields[count - 1] : is_end ? 59 : 0;
    tm.tm_hour = has_clock ? fields[count - 2] : is_end ? 23 : 0;
    tm.tm_mday = n_date > 0 ? fields[n_date - 1] : tm.tm_mday;
    tm.tm_mon = n_date > 1 ? fields[n_date - 2] - 1 : tm.tm_mon;
    tm.tm_year = n_date > 2 ? fields[0] - 1900 : tm.tm_year;
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm);
}

bool lsf_format_is_within(const char *span, int64_t at, bool *is_valid)
{
    size_t length = strcspn(span, ",");
    const char *rest = span[length] == ',' ? span + length + 1 : span;
    return at >= read_instant(span, length, false, is_valid) &&
           at <= read_instant(rest, strlen(rest), true, is_valid);
}

/* ---- sizes and limits */

const char *lsf_format_mem(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    double kib = json_number_value(value);
    if (!json_is_number(value)) {
        return "";
    }
    return kib < (double)KIB * KIB
               ? arena_printf(arena, "%.0f Mbytes", kib / KIB)
               : arena_printf(arena, "%.1f Gbytes", kib / KIB / KIB);
}

/* The MB that the job reserves in all, or has reserved: "mem=100/host" of two hosts is
 * 200, as without a scope; 0: none. */
static double reserved_mib(const json_t *row)
{
    const char *text = lsf_format_get(row, "reserved");
    const char *combined = strstr(lsf_format_get(row, "combined_resreq"), "rusage[");
    text = text[0] != '\0' || combined == NULL ? text : combined + strlen("rusage[");
    const char *at = strstr(text, "mem=");
    while (at != NULL && at > text && at[-1] != ',') {
        at = strstr(at + 1, "mem=");
    }
    if (at == NULL) {
        return 0;
    }
    char *scope;
    double mib = strtod(at + strlen("mem="), &scope);
    const char *times = strncmp(scope, "/slot", 5) == 0 ? "slots" : "n_hosts";
    return strncmp(scope, "/job", 4) == 0
               ? mib
               : mib * json_number_value(columns_find(row, times));
}

/* The peak of its memory, of what it reserves: "12.50%". */
const char *lsf_format_mem_efficiency(struct arena *arena, const json_t *row,
                                      const char *path)
{
    json_t *peak = columns_find(row, path);
    double mib = reserved_mib(row);
    return json_is_number(peak) && mib > 0
               ? arena_printf(arena, "%.2f%%",
                              json_number_value(peak) / KIB / mib * 100)
               : "";
}

const char *lsf_format_limit_size(struct arena *arena, const json_t *row,
                                  const char *path)
{
    json_t *value = columns_find(row, path);
    double kib = json_number_value(value);
    if (!json_is_number(value)) {
        return "";
    }
    return kib < KIB                 ? arena_printf(arena, "%.0f K", kib)
           : kib < (double)KIB * KIB ? arena_printf(arena, "%.0f M", kib / KIB)
                                     : arena_printf(arena, "%.1f G", kib / KIB / KIB);
}

const char *lsf_format_limit_minutes(struct arena *arena, const json_t *row,
                                     const char *path)
{
    json_t *value = columns_find(row, path);
    return json_is_number(value)
               ? arena_printf(arena, "%.1f", json_number_value(value) / 60)
               : "";
}

/* "20.0 min", or of the host that the limit is for: "cpu_host" beside "cpu_s". */
const char *lsf_format_limit_time(struct arena *arena, const json_t *row,
                                  const char *path)
{
    const char *minutes = lsf_format_limit_minutes(arena, row, path);
    const char *host = lsf_format_get(
        row, arena_printf(arena, "%.*s_host", (int)strlen(path) - 2, path));
    return minutes[0] == '\0' ? ""
                              : arena_printf(arena, "%s min%s%s", minutes,
                                             host[0] != '\0' ? " of " : "", host);
}

const char *lsf_format_used(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return is_there(columns_find(row, arena_printf(arena, "%s.limit", path)))
               ? format_used(arena, value)
               : "";
}

const char *lsf_format_each_used(struct arena *arena, const json_t *row,
                                 const char *path)
{
    const char *text = format_each_used(arena, columns_find(row, path));
    return strcmp(text, "-") == 0 ? "" : text;
}

/* ---- counts, lists and words */

const char *lsf_format_count(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return is_there(value) ? format_plain(arena, value) : "0";
}

/* An array of texts, with blanks between. */
const char *lsf_format_joined(struct arena *arena, const json_t *row, const char *path)
{
    const json_t *list = columns_find(row, path), *item;
    const char *text = "";
    size_t i;
    if (!json_is_array(list)) {
        return lsf_format_plain(arena, row, path);
    }
    json_array_foreach(list, i, item)
    {
        const char *one = json_string_value(item);
        text = arena_printf(arena, "%s%s%s", text, text[0] ? " " : "",
                            one != NULL ? one : "");
    }
    return text;
}

/* The resources of a host: "(linux big)". */
const char *lsf_format_names(struct arena *arena, const json_t *row, const char *path)
{
    return arena_printf(arena, "(%s)", lsf_format_joined(arena, row, path));
}

/* " 30", as in the column PRIO. */
const char *lsf_format_priority(struct arena *arena, const json_t *row,
                                const char *path)
{
    return arena_printf(arena, "%3s", lsf_format_plain(arena, row, path));
}

/* "Inc  ", as in the column ORDER; "N/A  " of what is not ordered. */
const char *lsf_format_resource_order(struct arena *arena, const json_t *row,
                                      const char *path)
{
    return arena_printf(arena, "%-5s", lsf_format_get(row, path));
}

/* "   15.00", as in the column CPU_FACTOR. */
const char *lsf_format_cpu_factor(struct arena *arena, const json_t *row,
                                  const char *path)
{
    return arena_printf(arena, "%8.2f", json_number_value(columns_find(row, path)));
}

const char *lsf_format_index(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return is_there(value) ? format_index(arena, value) : "";
}

const char *lsf_format_percent(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return is_there(value) ? format_percent(arena, value) : "";
}

const char *lsf_format_size(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    return is_there(value) ? format_size(arena, value) : "";
}

const char *lsf_format_yes(struct arena *arena, const json_t *row, const char *path)
{
    json_t *value = columns_find(row, path);
    (void)arena;
    return json_is_true(value) || json_is_string(value) ? "Y" : "N";
}

/* "too large" of "killed by ana (too large)". */
const char *lsf_format_kill_reason(struct arena *arena, const json_t *row,
                                   const char *path)
{
    static const char killed[] = "killed by ";
    const char *reason = lsf_format_get(row, path), *open = strstr(reason, " (");
    const char *close = strrchr(reason, ')');
    bool has_one = strncmp(reason, killed, strlen(killed)) == 0 && open != NULL &&
                   close != NULL && close > open;
    return has_one ? arena_strn(arena, open + 2, (size_t)(close - open - 2)) : "";
}

/* "TERM_RUNLIMIT: ..." as the site has it; who ended the job, in LSF's words. */
const char *lsf_format_exit_reason(struct arena *arena, const json_t *row,
                                   const char *path)
{
    static const char killed[] = "killed by ";
    const char *reason = lsf_format_get(row, path);
    (void)arena;
    if (strcmp(lsf_format_get(row, "state"), "EXIT") != 0) {
        return "";
    }
    if (strncmp(reason, killed, strlen(killed)) == 0) {
        const char *user = lsf_format_get(row, "user");
        const char *by = reason + strlen(killed);
        size_t length = strlen(user);
        bool is_owner =
            strncmp(by, user, length) == 0 && (by[length] == ' ' || by[length] == '\0');
        return is_owner ? "TERM_OWNER: job killed by owner"
                        : "TERM_ADMIN: job killed by root or LSF administrator";
    }
    return strncmp(reason, "TERM_", 5) == 0 ? reason : "";
}
