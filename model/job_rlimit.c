/* SPDX-License-Identifier: Apache-2.0 */
/* job_rlimit.c: see job_rlimit.h. */
#include "model/job_rlimit.h"

#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf.h"

enum { TIME_HOURS_MAX = 1000000, COUNT_MAX = 1 << 22, NICE_MIN = -20, NICE_MAX = 19 };

#define HOUR_MS INT64_C(3600000)
#define MINUTE_MS INT64_C(60000)
#define KIB_MAX (INT64_C(1) << 52) /* its bytes fit into 64 bits */

const struct job_rlimit_kind job_rlimit_kinds[JOB_RLIMITS] = {
    [JOB_RLIMIT_CPU] = {"cpu", "CPULIMIT", "-c", JOB_RLIMIT_TIME,
                        "CPU time of all processes of a job"},
    [JOB_RLIMIT_MEM] = {"mem", "MEMLIMIT", "-M", JOB_RLIMIT_SIZE_KIB,
                        "resident memory of all processes of a job"},
    [JOB_RLIMIT_SWAP] = {"swap", "SWAPLIMIT", "-v", JOB_RLIMIT_SIZE_KIB,
                         "virtual memory of all processes of a job"},
    [JOB_RLIMIT_PROCESSES] = {"processes", "PROCESSLIMIT", "-p", JOB_RLIMIT_COUNT,
                              "processes of a job at a time"},
    [JOB_RLIMIT_THREADS] = {"threads", "THREADLIMIT", "-T", JOB_RLIMIT_COUNT,
                            "threads of a job at a time"},
    [JOB_RLIMIT_FILE] = {"file", "FILELIMIT", "-F", JOB_RLIMIT_SIZE_KIB,
                         "size of files that a process writes"},
    [JOB_RLIMIT_DATA] = {"data", "DATALIMIT", "-D", JOB_RLIMIT_SIZE_KIB,
                         "data segment of a process"},
    [JOB_RLIMIT_STACK] = {"stack", "STACKLIMIT", "-S", JOB_RLIMIT_SIZE_KIB,
                          "stack of a process"},
    [JOB_RLIMIT_CORE] = {"core", "CORELIMIT", "-C", JOB_RLIMIT_SIZE_KIB,
                         "core file of a process; 0: none"},
    [JOB_RLIMIT_NICE] = {"nice", "NICE", NULL, JOB_RLIMIT_NICENESS,
                         "nice value that jobs run with"},
    [JOB_RLIMIT_PRE_TIME] = {"pre_time", "JOB_PREPROC_TIMEOUT", NULL, JOB_RLIMIT_TIME,
                             "minutes that PRE_EXEC may take"},
    [JOB_RLIMIT_POST_TIME] = {"post_time", "JOB_POSTPROC_TIMEOUT", NULL,
                              JOB_RLIMIT_TIME, "minutes that POST_EXEC may take"},
    [JOB_RLIMIT_WARNING] = {"warning", "JOB_ACTION_WARNING_TIME", "-wt",
                            JOB_RLIMIT_TIME, "time between the warning and the end"},
};

struct job_rlimits job_rlimits_none(void)
{
    struct job_rlimits limits;
    for (int i = 0; i < JOB_RLIMITS; i++) {
        limits.values[i] = JOB_RLIMIT_NONE;
    }
    limits.cpu_host = "";
    return limits;
}

/* ---------------------------------------------------------------- values */

int job_rlimit_parse_time(const char *text, int64_t *ms, struct err *err)
{
    char hours_text[16];
    int64_t hours = 0, minutes_ms = 0;
    const char *colon = strchr(text, ':');
    if (colon != NULL) {
        size_t length = (size_t)(colon - text);
        if (length >= sizeof(hours_text)) {
            return err_set(err, ERR_BOUNDS, "%.40s: expected [HOURS:]MINUTES", text);
        }
        memcpy(hours_text, text, length);
        hours_text[length] = '\0';
        int code = conf_parse_int(hours_text, 0, TIME_HOURS_MAX, &hours, err);
        if (code != 0) {
            return code;
        }
        text = colon + 1;
    }
    int code = conf_parse_duration(text, MINUTE_MS, &minutes_ms, err);
    if (code == 0) {
        *ms = hours * HOUR_MS + minutes_ms;
    }
    return code;
}

const char *job_rlimit_host(const char *text)
{
    const char *slash = strchr(text, '/');
    return slash != NULL ? slash + 1 : "";
}

/* The part before the host; false if it is too long for a number or a time. */
static bool cut_host(const char *text, char part[32])
{
    size_t length = strcspn(text, "/");
    if (length >= 32) {
        return false;
    }
    memcpy(part, text, length);
    part[length] = '\0';
    return true;
}

int job_rlimit_parse_host_time(const char *text, int64_t *ms, struct err *err)
{
    const char *host = job_rlimit_host(text);
    char time[32];
    if (strchr(text, '/') != NULL && (host[0] == '\0' || strchr(host, '/') != NULL ||
                                      strlen(host) >= HOST_NAME_SIZE)) {
        return err_set(err, ERR_PARSE,
                       "%.40s: expected [HOURS:]MINUTES[/HOST], or a host model", text);
    }
    return cut_host(text, time)
               ? job_rlimit_parse_time(time, ms, err)
               : err_set(err, ERR_BOUNDS, "%.40s: expected [HOURS:]MINUTES", text);
}

int64_t job_rlimit_unit_kib(const char *word)
{
    static const char letters[] = "KMGTPE";
    const char *letter =
        word[0] != '\0' ? strchr(letters, word[0] & ~('a' - 'A')) : NULL;
    if (letter == NULL || (word[1] != '\0' && strcasecmp(word + 1, "B") != 0)) {
        return 0;
    }
    return INT64_C(1) << (10 * (letter - letters));
}

int64_t job_rlimit_scale(int64_t size, int64_t unit_kib)
{
    return size > KIB_MAX / unit_kib ? KIB_MAX : size * unit_kib;
}

static int parse_size(const char *text, int64_t unit_kib, int64_t *kib, bool *is_bare,
                      struct err *err)
{
    char digits[24];
    size_t length = strspn(text, "0123456789");
    int64_t number;
    if (length == 0 || length >= sizeof(digits)) {
        return err_set(err, ERR_PARSE,
                       "\"%.40s\" is not a size, expected a number of KB, "
                       "or with a unit as 4GB",
                       text);
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    *is_bare = text[length] == '\0';
    if (!*is_bare) {
        unit_kib = job_rlimit_unit_kib(text + length);
    }
    if (unit_kib == 0) {
        return err_set(err, ERR_PARSE,
                       "\"%.40s\" has no known unit, expected KB MB GB TB PB or EB",
                       text);
    }
    int code = conf_parse_int(digits, 0, KIB_MAX, &number, err);
    if (code == 0 && number > KIB_MAX / unit_kib) {
        return err_set(err, ERR_BOUNDS, "\"%.40s\" is too large, expected at most 4EB",
                       text);
    }
    if (code == 0) {
        *kib = number * unit_kib;
    }
    return code;
}

int job_rlimit_parse(enum job_rlimit limit, const char *text, int64_t unit_kib,
                     int64_t *value, bool *is_bare, struct err *err)
{
    int code = 0;
    *is_bare = false;
    switch (job_rlimit_kinds[limit].unit) {
    case JOB_RLIMIT_TIME:
        code = limit == JOB_RLIMIT_CPU ? job_rlimit_parse_host_time(text, value, err)
                                       : job_rlimit_parse_time(text, value, err);
        if (code == 0 && (*value <= 0 || *value > JOB_RLIMIT_TIME_MAX)) {
            return err_set(err, ERR_BOUNDS,
                           "\"%.40s\", expected more than 0 and less "
                           "than ten years",
                           text);
        }
        return code;
    case JOB_RLIMIT_SIZE_KIB:
        return parse_size(text, unit_kib, value, is_bare, err);
    case JOB_RLIMIT_COUNT:
        return conf_parse_int(text, 1, COUNT_MAX, value, err);
    case JOB_RLIMIT_NICENESS:
        break;
    }
    code = conf_parse_int(text, NICE_MIN, NICE_MAX + 1, value, err);
    if (code == 0 && *value > NICE_MAX) {
        *value = NICE_MAX; /* LSF's files have 20, and the kernel takes it for 19 */
    }
    return code;
}

const char *job_rlimit_text(struct arena *arena, enum job_rlimit limit, int64_t value)
{
    switch (job_rlimit_kinds[limit].unit) {
    case JOB_RLIMIT_TIME:
        return value % MINUTE_MS == 0
                   ? arena_printf(arena, "%lld min", (long long)(value / MINUTE_MS))
                   : arena_printf(arena, "%lld s", (long long)(value / 1000));
    case JOB_RLIMIT_SIZE_KIB:
        return arena_printf(arena, "%lld KB", (long long)value);
    case JOB_RLIMIT_COUNT:
    case JOB_RLIMIT_NICENESS:
        break;
    }
    return arena_printf(arena, "%lld", (long long)value);
}

/* ---------------------------------------------------------------- on their way */

static bool is_in_bounds(enum job_rlimit limit, int64_t value)
{
    switch (job_rlimit_kinds[limit].unit) {
    case JOB_RLIMIT_TIME:
        return value > 0 && value <= JOB_RLIMIT_TIME_MAX;
    case JOB_RLIMIT_SIZE_KIB:
        return value >= 0 && value <= KIB_MAX;
    case JOB_RLIMIT_COUNT:
        return value >= 1 && value <= COUNT_MAX;
    case JOB_RLIMIT_NICENESS:
        break;
    }
    return value >= NICE_MIN && value <= NICE_MAX;
}

static bool read_one(const char *text, struct job_rlimits *limits)
{
    const char *equals = strchr(text, '=');
    for (int i = 0; equals != NULL && i < JOB_RLIMITS; i++) {
        const char *name = job_rlimit_kinds[i].name, *number = equals + 1;
        size_t length = strlen(name);
        if ((size_t)(equals - text) == length && memcmp(text, name, length) == 0) {
            const char *host = i == JOB_RLIMIT_CPU ? job_rlimit_host(number) : "";
            char part[32];
            int64_t value;
            if (host[0] != '\0') {
                limits->cpu_host = host;
                number = cut_host(number, part) ? part : "";
            }
            limits->values[i] =
                conf_parse_int(number, INT64_MIN, INT64_MAX, &value, NULL) == 0
                    ? value
                    : JOB_RLIMIT_NONE;
            return is_in_bounds((enum job_rlimit)i, limits->values[i]);
        }
    }
    return false;
}

int job_rlimits_read(const char *const *texts, int n_texts, struct job_rlimits *limits,
                     struct err *err)
{
    *limits = job_rlimits_none();
    for (int i = 0; i < n_texts; i++) {
        if (!read_one(texts[i], limits)) {
            return err_set(err, ERR_PARSE, "limit \"%.40s\" is not known here",
                           texts[i]);
        }
    }
    return 0;
}

int job_rlimits_write(struct arena *arena, const struct job_rlimits *limits,
                      const char *const **texts)
{
    const char **list = NULL; /* most jobs have no limit */
    int count = 0;
    for (int i = 0; i < JOB_RLIMITS; i++) {
        if (limits->values[i] == JOB_RLIMIT_NONE) {
            continue;
        }
        if (list == NULL) {
            list = arena_alloc(arena, JOB_RLIMITS, sizeof(*list));
        }
        const char *host = i == JOB_RLIMIT_CPU ? limits->cpu_host : "";
        list[count++] = arena_printf(arena, "%s=%lld%s%s", job_rlimit_kinds[i].name,
                                     (long long)limits->values[i],
                                     host[0] != '\0' ? "/" : "", host);
    }
    *texts = list;
    return count;
}
