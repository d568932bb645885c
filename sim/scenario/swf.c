/* SPDX-License-Identifier: Apache-2.0 */
/* swf.c: see swf.h. */
#include "sim/scenario/swf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

/* Upper bound of times: 30,000 years. */
#define SECONDS_MAX INT64_C(1000000000000)
/* Larger numbers, in fields that are not used, are set to this, whose thousandths still
 * fit. */
#define NUMBER_MAX INT64_C(9000000000000000)

/* Indices of the fields, from 0. */
enum field {
    NUMBER = 0,
    SUBMIT = 1,
    RUN = 3,
    ALLOCATED = 4,
    REQUESTED = 7,
    LIMIT = 8,
    STATUS = 10,
    USER = 11,
    GROUP = 12,
    QUEUE = 14,
};

enum status {
    STATUS_FAILED = 0,
    STATUS_PART = 2,
    STATUS_LAST_PART = 3,
    STATUS_LAST_PART_FAILED = 4,
    STATUS_CANCELLED = 5,
};

/* Numbers are stored in thousandths, since averages and some times have fractions. */
enum { THOUSAND = 1000 };

/* More than any machine has. */
enum { SLOTS_OF_JOB_MAX = HOSTS_MAX * SLOTS_MAX };

struct reader {
    const char *file;
    int line;
    const char *at, *end; /* of the line */
    struct arena *arena;
    struct swf *swf;
    int capacity;
    struct err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && is_blank(*reader->at)) {
        reader->at++;
    }
}

static int read_number(struct reader *reader, int field, int64_t *out)
{
    const char *word = reader->at, *at = word;
    bool is_negative = *at == '-';
    int64_t number = 0;
    int64_t unit = THOUSAND;
    bool has_digits = false;

    at += is_negative;
    for (; at < reader->end && is_digit(*at); at++) {
        has_digits = true;
        number = number > NUMBER_MAX / 10 ? NUMBER_MAX : number * 10 + (*at - '0');
    }
    number *= THOUSAND;
    if (at < reader->end && *at == '.') {
        for (at++; at < reader->end && is_digit(*at); at++) {
            unit /= 10;
            number += unit * (*at - '0');
            has_digits = true;
        }
    }
    if (!has_digits || (at < reader->end && !is_blank(*at))) {
        while (at < reader->end && !is_blank(*at) && at < word + 20) {
            at++;
        }
        return err_set(reader->err, ERR_PARSE,
                       "%s:%d: field %d is \"%.*s\", expected a number", reader->file,
                       reader->line, field + 1, (int)(at - word), word);
    }
    reader->at = at;
    *out = is_negative ? -number : number;
    return 0;
}

static int read_fields(struct reader *reader, int64_t *fields)
{
    int n = 0;

    for (skip_blanks(reader); reader->at < reader->end; skip_blanks(reader), n++) {
        int64_t ignored;
        int code = read_number(reader, n, n < SWF_FIELDS ? &fields[n] : &ignored);
        if (code) {
            return code;
        }
    }
    if (n != SWF_FIELDS) {
        return err_set(
            reader->err, ERR_PARSE,
            "%s:%d: a job of %d fields, expected %d (a trace in the Standard "
            "Workload Format)",
            reader->file, reader->line, n, SWF_FIELDS);
    }
    return 0;
}

/* Reads "; MaxProcs: 240"; other header lines are ignored. */
static void read_header(struct reader *reader)
{
    static const char key[] = "MaxProcs:";
    int64_t number;
    struct err ignored;
    struct reader value = *reader;

    value.err = &ignored;
    value.at++; /* the semicolon */
    skip_blanks(&value);
    if ((size_t)(value.end - value.at) <= strlen(key) ||
        strncmp(value.at, key, strlen(key)) != 0) {
        return;
    }
    value.at += strlen(key);
    skip_blanks(&value);
    if (value.at < value.end && read_number(&value, 0, &number) == 0 && number > 0) {
        reader->swf->max_procs = number / THOUSAND;
    }
}

static int check_bounds(struct reader *reader, const int64_t *fields)
{
    static const struct {
        enum field field;
        const char *what;
        int64_t max;
    } bounds[] = {
        {SUBMIT, "submit time", SECONDS_MAX},
        {RUN, "run time", SECONDS_MAX},
        {ALLOCATED, "allocated processors", SLOTS_OF_JOB_MAX},
        {REQUESTED, "requested processors", SLOTS_OF_JOB_MAX},
        {LIMIT, "requested time", SECONDS_MAX},
    };

    if (fields[SUBMIT] < 0) {
        return err_set(reader->err, ERR_BOUNDS,
                       "%s:%d: no submit time (field 2), expected seconds",
                       reader->file, reader->line);
    }
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        if (fields[bounds[i].field] / THOUSAND > bounds[i].max) {
            return err_set(
                reader->err, ERR_BOUNDS,
                "%s:%d: %s (field %d) is out of bounds, expected at most %lld",
                reader->file, reader->line, bounds[i].what, bounds[i].field + 1,
                (long long)bounds[i].max);
        }
    }
    return 0;
}

static const char *name_of(struct arena *arena, char letter, int64_t id)
{
    return id < 0 ? "unknown"
                  : arena_printf(arena, "%c%lld", letter, (long long)(id / THOUSAND));
}

/* True if the line is a whole job that ran. Other lines are counted by kind. */
static bool is_usable(struct swf *swf, const int64_t *fields, int64_t n_slots)
{
    int64_t status = fields[STATUS] / THOUSAND;

    if (status >= STATUS_PART && status <= STATUS_LAST_PART_FAILED) {
        swf->n_parts++;
        return false;
    }
    if (fields[RUN] < 0 ||
        (fields[RUN] == 0 && (status == STATUS_FAILED || status == STATUS_CANCELLED))) {
        swf->n_never_ran++;
        return false;
    }
    if (n_slots <= 0) {
        swf->n_sizeless++;
        return false;
    }
    return true;
}

static struct swf_job *new_job(struct reader *reader)
{
    struct swf *swf = reader->swf;

    if (swf->n_jobs == reader->capacity) {
        int capacity = reader->capacity ? 2 * reader->capacity : 1024;
        struct swf_job *jobs =
            arena_alloc(reader->arena, (size_t)capacity, sizeof(jobs[0]));
        if (swf->n_jobs > 0) {
            memcpy(jobs, swf->jobs, (size_t)swf->n_jobs * sizeof(jobs[0]));
        }
        swf->jobs = jobs;
        reader->capacity = capacity;
    }
    return &swf->jobs[swf->n_jobs++];
}

static int read_job(struct reader *reader)
{
    struct swf *swf = reader->swf;
    int64_t fields[SWF_FIELDS];
    int code = read_fields(reader, fields);

    if (code) {
        return code;
    }
    if ((code = check_bounds(reader, fields)) != 0) {
        return code;
    }
    int64_t n_slots =
        (fields[ALLOCATED] > 0 ? fields[ALLOCATED] : fields[REQUESTED]) / THOUSAND;
    if (!is_usable(swf, fields, n_slots)) {
        return 0;
    }
    if (swf->n_jobs == SWF_JOBS_MAX) {
        return err_set(reader->err, ERR_FULL,
                       "%s:%d: more than %d jobs, expected fewer, or limit_jobs",
                       reader->file, reader->line, SWF_JOBS_MAX);
    }
    struct swf_job *job = new_job(reader);
    *job = (struct swf_job){
        .number = fields[NUMBER] / THOUSAND,
        .at_ms = fields[SUBMIT], /* seconds in thousandths are milliseconds */
        .run_ms = fields[RUN],
        .limit_ms = fields[LIMIT] > 0 ? fields[LIMIT] : 0,
        .n_slots = (int)n_slots,
        .user = name_of(reader->arena, 'u', fields[USER]),
        .group = name_of(reader->arena, 'g', fields[GROUP]),
        .queue = name_of(reader->arena, 'q', fields[QUEUE]),
        .line = reader->line,
    };
    return 0;
}

static int read_line(struct reader *reader)
{
    skip_blanks(reader);
    if (reader->at == reader->end) {
        return 0;
    }
    if (*reader->at == ';') {
        read_header(reader);
        return 0;
    }
    return read_job(reader);
}

static int read_lines(struct reader *reader, const char *text, size_t length, int limit)
{
    const char *end = text + length;

    while (text < end && (limit == 0 || reader->swf->n_jobs < limit)) {
        size_t left = (size_t)(end - text);
        const char *newline =
            memchr(text, '\n', left < SWF_LINE_MAX ? left : SWF_LINE_MAX);
        size_t size = newline ? (size_t)(newline - text) : left;

        reader->line++;
        if (size >= SWF_LINE_MAX) {
            return err_set(
                reader->err, ERR_PARSE,
                "%s:%d: a line of more than %d bytes, expected a trace in the "
                "Standard Workload Format",
                reader->file, reader->line, SWF_LINE_MAX);
        }
        if (memchr(text, '\0', size)) {
            return err_set(reader->err, ERR_PARSE, "%s:%d: a NUL byte, expected text",
                           reader->file, reader->line);
        }
        reader->at = text;
        reader->end = text + size;
        int code = read_line(reader);
        if (code) {
            return code;
        }
        text += size + (newline != NULL);
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct swf_job *a = left, *b = right;

    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms ? -1 : 1;
    }
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Avoids overflow; gives the same as scaling each gap. */
static int64_t scale_time(int64_t ms, int64_t millionths)
{
    return ms / SWF_SCALE_ONE * millionths +
           ms % SWF_SCALE_ONE * millionths / SWF_SCALE_ONE;
}

static void finish(struct swf *swf, int64_t millionths)
{
    if (swf->n_jobs > 1) {
        qsort(swf->jobs, (size_t)swf->n_jobs, sizeof(swf->jobs[0]), compare);
    }
    int64_t first_ms = swf->n_jobs > 0 ? swf->jobs[0].at_ms : 0;
    for (int i = 0; i < swf->n_jobs; i++) {
        struct swf_job *job = &swf->jobs[i];
        job->at_ms = scale_time(job->at_ms - first_ms, millionths);
        swf->n_over_limit += job->limit_ms > 0 && job->run_ms > job->limit_ms;
        swf->n_slots_max =
            job->n_slots > swf->n_slots_max ? job->n_slots : swf->n_slots_max;
    }
}

int swf_read(const char *file, const char *text, size_t length,
             const struct swf_options *options, struct arena *arena, struct swf *swf,
             struct err *err)
{
    struct swf read = {0};
    struct reader reader = {.file = file, .arena = arena, .swf = &read, .err = err};
    int code = read_lines(&reader, text, length, options->limit_jobs);

    if (code) {
        return code;
    }
    finish(&read, options->scale_millionths);
    *swf = read;
    return 0;
}
