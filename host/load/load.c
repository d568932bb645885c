/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: see load.h. */
#include "host/load/load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "host/load/elim.h"
#include "host/load/load_read.h"
#include "model/local_resources.h"
#include "sys/daemon.h"

struct load {
    zloop_t *loop;
    struct load_read *reader;
    struct load_machine facts;
    struct load_sample sample; /* the latest */
    struct load_index index;
    int64_t slow_ms; /* when users and /tmp were read */
    struct arena arena;
    struct load_value local[LOCAL_RESOURCES_MAX];
    int n_local;
    struct elim *elims[LOAD_ELIMS_MAX];
    int n_elims;
    bool has_changed;
    /* The message: */
    struct arena message;
    struct load_value values[LOAD_VALUES_MAX];
    int n_values;
};

/* ---------------------------------------------------------------- the message */

static bool has_value(const struct load *load, const char *name)
{
    for (int i = 0; i < load->n_values; i++) {
        if (strcmp(load->values[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The first value of a name counts. */
static void add_value(struct load *load, const struct load_value *value)
{
    if (load->n_values < LOAD_VALUES_MAX && !has_value(load, value->name)) {
        load->values[load->n_values++] = *value;
    }
}

static void add_text(struct load *load, const char *name, const char *text)
{
    if (text[0] != '\0') {
        add_value(load, &(struct load_value){.name = name, .value = text});
    }
}

static void add_number(struct load *load, const char *name, double number)
{
    if (number >= 0) {
        add_text(load, name, arena_printf(&load->message, "%.15g", number));
    }
}

/* An average is not known better than to a thousandth. */
static double rounded(double number)
{
    return number < 0 ? number : round(number * 1000.0) / 1000.0;
}

static void add_indices(struct load *load)
{
    for (int i = 0; i < LOAD_INDICES; i++) {
        add_number(load, load_index_name((enum load_index_name)i),
                   rounded(load->index.values[i]));
    }
}

static void add_facts(struct load *load)
{
    const struct load_machine *facts = &load->facts;
    const struct load_sample *sample = &load->sample;
    add_text(load, "type", facts->type);
    add_text(load, "model", facts->model);
    add_number(load, "ndisks", facts->n_disks);
    add_number(load, "nprocs", facts->n_procs);
    add_number(load, "ncores", facts->n_cores);
    add_number(load, "nthreads", facts->n_threads);
    if (sample->has_memory) {
        add_number(load, "maxmem", (double)(sample->memory.all_kib / 1024));
        add_number(load, "maxswp", (double)(sample->memory.all_swap_kib / 1024));
    }
    if (sample->has_tmp) {
        add_number(load, "maxtmp", (double)sample->max_tmp_mib);
    }
}

/* As a load index it must be a number that may be one. */
static bool is_index_value(const struct load_value *value)
{
    char *end;
    errno = 0;
    double number = strtod(value->value, &end);
    return end != value->value && *end == '\0' && errno == 0 && isfinite(number) &&
           number >= 0;
}

static bool may_be_measured(const struct load_value *value)
{
    static const char *const facts[] = {
        "type",   "model",  "hname",  "status", "server",   "rexpri",
        "cpuf",   "ncpus",  "ndisks", "nprocs", "nthreads", "ncores",
        "maxmem", "maxswp", "maxtmp", "slots",  "maxslots",
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (strcmp(facts[i], value->name) == 0) {
            return false;
        }
    }
    return !load_index_is_name(value->name) || is_index_value(value);
}

static void add_measured(struct load *load, struct elim *elim)
{
    struct load_value measured[LOAD_VALUES_MAX];
    int n_measured = elim_values(elim, measured, LOAD_VALUES_MAX);
    for (int i = 0; i < n_measured; i++) {
        if (may_be_measured(&measured[i])) {
            add_value(load, &measured[i]);
        }
    }
}

void load_fill(struct load *load, struct msg_host_load *msg)
{
    load->n_values = 0;
    load->has_changed = false;
    arena_clear(&load->message);
    for (int i = 0; i < load->n_local; i++) {
        add_value(load, &load->local[i]);
    }
    for (int i = 0; i < load->n_elims; i++) {
        add_measured(load, load->elims[i]);
    }
    add_indices(load);
    add_facts(load);
    msg->values = load->values;
    msg->n_values = load->n_values;
}

bool load_is_due(struct load *load, int64_t reported_ms, int64_t now_ms)
{
    for (int i = 0; i < load->n_elims; i++) {
        load->has_changed = elim_has_changed(load->elims[i]) || load->has_changed;
    }
    return load->has_changed || now_ms - reported_ms >= LOAD_REPORT_MS;
}

/* ---------------------------------------------------------------- reading */

static int count_known(const struct load_index *index)
{
    int count = 0;
    for (int i = 0; i < LOAD_INDICES; i++) {
        count += index->values[i] != LOAD_INDEX_UNKNOWN;
    }
    return count;
}

static int on_read(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    struct load *load = arg;
    int64_t now_ms = daemon_now_ms();
    load->sample.now_ms = now_ms;
    load_read_sample(load->reader, &load->sample);
    if (load->slow_ms == 0 || now_ms - load->slow_ms >= LOAD_SLOW_MS) {
        load_read_slow(load->reader, &load->sample);
        load->slow_ms = now_ms;
    }
    int n_known = count_known(&load->index);
    load_index_take(&load->index, &load->sample);
    load->has_changed = load->has_changed || count_known(&load->index) != n_known;
    return 0;
}

/* ---------------------------------------------------------------- life */

static int make_elims(struct load *load, const struct load_setting *setting,
                      struct err *err)
{
    for (int i = 0; i < setting->n_elims; i++) {
        int code =
            elim_new(load->loop, setting->elims[i], &load->elims[load->n_elims], err);
        if (code != 0) {
            return code;
        }
        load->n_elims++;
    }
    return 0;
}

int load_new(zloop_t *loop, const struct load_setting *setting, struct load **load,
             struct err *err)
{
    struct load *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    arena_init(&made->arena);
    arena_init(&made->message);
    load_index_init(&made->index);
    made->reader = load_read_new();
    int code = 0;
    if (setting->local_resources != NULL) {
        code = local_resources_read(&made->arena, setting->local_resources, made->local,
                                    &made->n_local, err);
        if (code != 0) {
            err_prefix(err, "LSF_LOCAL_RESOURCES");
        }
    }
    if (code == 0) {
        code = make_elims(made, setting, err);
    }
    if (code != 0) {
        load_free(made);
        return code;
    }
    *load = made;
    return 0;
}

int load_start(struct load *load, struct err *err)
{
    load_read_machine(load->reader, &load->facts);
    on_read(load->loop, -1, load);
    if (zloop_timer(load->loop, LOAD_READ_MS, 0, on_read, load) < 0) {
        return err_set(err, ERR_IO, "the load cannot be read regularly");
    }
    for (int i = 0; i < load->n_elims; i++) {
        elim_start(load->elims[i]);
    }
    return 0;
}

void load_free(struct load *load)
{
    if (load == NULL) {
        return;
    }
    for (int i = 0; i < load->n_elims; i++) {
        elim_free(load->elims[i]);
    }
    load_read_free(load->reader);
    arena_release(&load->arena);
    arena_release(&load->message);
    free(load);
}

void load_reap(struct load *load)
{
    for (int i = 0; i < load->n_elims; i++) {
        elim_reap(load->elims[i]);
    }
}
