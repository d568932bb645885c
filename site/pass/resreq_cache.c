/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_cache.c: see resreq_cache.h. */
#include "site/pass/resreq_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "site/config/site_config.h"

/* One or two kilobytes each. Beyond that all are dropped and compiled again. */
enum { CLASSES_MAX = 20000 };

struct resreq_entry {
    struct match_class class;
    UT_hash_handle hh; /* by the strings, each with its NUL */
};

struct resreq_cache *resreq_cache_new(const struct site_config *config,
                                      struct host_resources *host_resources)
{
    struct resreq_cache *cache = mem_alloc(1, sizeof(*cache));
    cache->config = config;
    cache->host_resources = host_resources;
    cache->resources = host_resources_catalogue(host_resources);
    arena_init(&cache->arena);
    cache->watch = value_watch_new();
    cache->store = match_store_new();
    return cache;
}

void resreq_cache_free(struct resreq_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    HASH_CLEAR(hh, cache->by_key);
    match_store_free(cache->store);
    value_watch_free(cache->watch);
    arena_release(&cache->arena);
    free(cache);
}

bool resreq_cache_trim(struct resreq_cache *cache)
{
    if (HASH_COUNT(cache->by_key) <= CLASSES_MAX) {
        return false;
    }
    HASH_CLEAR(hh, cache->by_key);
    cache->by_key = NULL;
    match_store_clear(cache->store);
    arena_clear(&cache->arena);
    return true;
}

static const struct application *application_of(const struct resreq_cache *cache,
                                                const struct job_spec *spec)
{
    return spec->app == NULL || spec->app[0] == '\0'
               ? NULL
               : application_find(cache->config->applications,
                                  cache->config->n_applications, spec->app);
}

static struct resreq_strings strings_of(const struct resreq_cache *cache, int queue,
                                        const struct job_spec *spec)
{
    const struct application *app = application_of(cache, spec);
    return (struct resreq_strings){
        .queue = cache->config->queues[queue].res_req,
        .resrsv_limit = cache->config->queues[queue].resrsv_limit,
        .application = app != NULL ? app->res_req : NULL,
        .strings = spec->res_reqs,
        .n_strings = spec->n_res_reqs,
    };
}

static int compile(const struct resreq_cache *cache, struct arena *arena, int queue,
                   const struct job_spec *spec, struct resreq *resreq,
                   struct resreq_notes *notes, struct resreq_error *fault)
{
    struct resreq_rules rules = resreq_config_rules(cache->config, cache->resources);
    struct resreq_strings from = strings_of(cache, queue, spec);
    return resreq_compile(arena, &rules, &from, resreq, notes, fault);
}

/* Checks each alternative. */
static int check_ranges(const struct resreq_cache *cache, struct arena *arena,
                        const struct resrsv_limits *ranges, const struct resreq *resreq,
                        struct resreq_error *fault)
{
    int code = 0;
    for (; resreq != NULL && code == 0; resreq = resreq->next) {
        code = resrsv_limit_check(arena, cache->resources, ranges, &resreq->rusages,
                                  fault);
    }
    return code;
}

static int check_affinity(const struct resreq *resreq, bool may_exclude, int n_slots,
                          const char *source, struct resreq_error *fault)
{
    const struct resreq_place place = {.source = source};
    for (; resreq != NULL; resreq = resreq->next) {
        if (!resreq->affinity.is_given) {
            continue;
        }
        if (n_slots > AFFINITY_TASKS_MAX) {
            return resreq_error_set(fault, RESREQ_AFFINITY, place, RESREQ_BAD_VALUE,
                                    "a job with affinity has at most %d slots",
                                    AFFINITY_TASKS_MAX);
        }
        if ((resreq->affinity.scopes & CPU_SCOPE_ALLJOBS) != 0 && !may_exclude) {
            return resreq_error_set(fault, RESREQ_AFFINITY, place, RESREQ_BAD_VALUE,
                                    "exclusive=(LEVEL,alljobs) needs a queue with "
                                    "EXCLUSIVE = Y");
        }
    }
    return 0;
}

static int check_exclusive_units(const struct resreq_cache *cache, int queue,
                                 const struct resreq_cu *cu, struct resreq_error *fault)
{
    const struct compute_units *units = &cache->config->units;
    const struct queue_config *allows = &cache->config->queues[queue];
    if (!cu->is_exclusive || compute_units_may_exclude(units, allows, cu->type)) {
        return 0;
    }
    return resreq_error_set(fault, RESREQ_CU, cu->place, RESREQ_BAD_VALUE,
                            "excl needs a queue with EXCLUSIVE = CU[%s]",
                            units->types.names[cu->type]);
}

int resreq_cache_check(const struct resreq_cache *cache, int queue,
                       const struct job_spec *spec, int max_slots,
                       struct resreq_notes *notes, struct resreq_error *fault)
{
    const char *range = cache->config->queues[queue].resrsv_limit;
    struct resrsv_limits ranges;
    struct resreq resreq;
    int code = compile(cache, notes->arena, queue, spec, &resreq, notes, fault);
    if (code == 0) {
        code = resreq_check_slots(&resreq, spec->n_slots, max_slots,
                                  spec->n_res_reqs > 0 ? spec->res_reqs[0] : "", fault);
    }
    if (code == 0) {
        int most = max_slots > spec->n_slots ? max_slots : spec->n_slots;
        code = check_affinity(&resreq, cache->config->queues[queue].is_exclusive, most,
                              spec->n_res_reqs > 0 ? spec->res_reqs[0] : "", fault);
    }
    if (code == 0) {
        code = check_exclusive_units(cache, queue, &resreq.span.cu, fault);
    }
    if (code != 0 || range == NULL) {
        return code;
    }
    code = resrsv_limit_parse(notes->arena, cache->resources, range, &ranges, fault);
    return code != 0 ? code
                     : check_ranges(cache, notes->arena, &ranges, &resreq, fault);
}

/* It has no parts, and no alternatives, nor has its rusage. */
static bool is_simple(const struct resreq *resreq)
{
    return resreq->next == NULL && !resreq->is_compound &&
           resreq->rusages.n_alternatives <= 1;
}

bool resreq_cache_forbids_resize(const struct resreq_cache *cache, struct arena *arena,
                                 int queue, const struct job_spec *spec)
{
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    return compile(cache, arena, queue, spec, &resreq, &notes, &fault) == 0 &&
           (!is_simple(&resreq) || resreq.affinity.is_given ||
            resreq.span.cu.is_exclusive);
}

int resreq_cache_rusage(const struct resreq_cache *cache, struct arena *arena,
                        int queue, const struct job_spec *spec,
                        struct resreq_rusages *rusages, struct err *err)
{
    const unsigned fixed = 1U << RESREQ_CU | 1U << RESREQ_AFFINITY;
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    if (compile(cache, arena, queue, spec, &resreq, &notes, &fault) != 0) {
        return err_set(err, ERR_PARSE, "%s", fault.text);
    }
    if (!is_simple(&resreq) || (resreq.sections & fixed) != 0) {
        return err_set(err, ERR_PARSE,
                       "the requirements of a job that has started do not change if "
                       "they have alternatives, cu or affinity");
    }
    *rusages = resreq.rusages;
    return 0;
}

const char *resreq_cache_combined(const struct resreq_cache *cache, struct arena *arena,
                                  int queue, const struct job_spec *spec)
{
    struct resreq_rules rules = resreq_config_rules(cache->config, cache->resources);
    struct resreq_strings from = strings_of(cache, queue, spec);
    return resreq_combined(arena, &rules, &from);
}

static bool names_excl(const char *text)
{
    return text != NULL && strstr(text, "excl") != NULL;
}

int resreq_cache_exclusive_units(const struct resreq_cache *cache, struct arena *arena,
                                 int queue, const struct job_spec *spec)
{
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    const struct application *app = application_of(cache, spec);
    bool is_named = names_excl(cache->config->queues[queue].res_req) ||
                    (app != NULL && names_excl(app->res_req));
    for (int i = 0; i < spec->n_res_reqs && !is_named; i++) {
        is_named = names_excl(spec->res_reqs[i]);
    }
    bool is_exclusive =
        is_named && compile(cache, arena, queue, spec, &resreq, &notes, &fault) == 0 &&
        resreq.span.cu.is_exclusive;
    return is_exclusive ? resreq.span.cu.type : -1;
}

static bool names_status(const char *text)
{
    return text != NULL && strstr(text, "status") != NULL;
}

/* The queue if what the strings mean depends on it: hosts that are full with jobs that
 * the queue may preempt are ok to it. Else -1. */
static int queue_of_status(const struct resreq_cache *cache, int queue,
                           const struct job_spec *spec)
{
    const struct site_config *config = cache->config;
    if (!config->preempt.is_enabled) {
        return -1;
    }
    const struct application *app = application_of(cache, spec);
    bool is_named = names_status(config->queues[queue].res_req) ||
                    (app != NULL && names_status(app->res_req));
    for (int i = 0; i < spec->n_res_reqs && !is_named; i++) {
        is_named = names_status(spec->res_reqs[i]);
    }
    for (int i = 0; is_named && i < config->n_queues; i++) {
        int level;
        if (preempt_policy_may(&config->preempt, config->queues, queue, i, &level)) {
            return queue;
        }
    }
    return -1;
}

static char *put_text(char *at, const char *text)
{
    size_t size = strlen(text) + 1;
    return (char *)memcpy(at, text, size) + size;
}

/* The key holds exactly what is compiled, so that queues with the same strings share a
 * class: "-1\0" "1mem > 5\0[mem=9]\0app\0swp > 15\0", with 0 for a queue without
 * RES_REQ, after the queue if the meaning depends on it. In the arena. */
static const char *key_of(const struct resreq_cache *cache, struct arena *arena,
                          int queue, const struct job_spec *spec, size_t *length)
{
    const char *of_queue = cache->config->queues[queue].res_req;
    const char *range = cache->config->queues[queue].resrsv_limit;
    const char *app = spec->app != NULL ? spec->app : "";
    range = range != NULL ? range : "";
    char own_queue[16];
    snprintf(own_queue, sizeof(own_queue), "%d", queue_of_status(cache, queue, spec));
    size_t size = strlen(own_queue) + 1 + 1 + strlen(of_queue != NULL ? of_queue : "") +
                  1 + strlen(range) + 1 + strlen(app) + 1;
    for (int i = 0; i < spec->n_res_reqs; i++) {
        size += strlen(spec->res_reqs[i]) + 1;
    }
    char *key = arena_alloc(arena, size, 1), *at = key;
    at = put_text(at, own_queue);
    *at++ = of_queue != NULL ? '1' : '0';
    at = put_text(at, of_queue != NULL ? of_queue : "");
    at = put_text(at, range);
    at = put_text(at, app);
    for (int i = 0; i < spec->n_res_reqs; i++) {
        at = put_text(at, spec->res_reqs[i]);
    }
    *length = size;
    return key;
}

const struct match_class *resreq_cache_find(struct resreq_cache *cache,
                                            struct arena *scratch, int queue,
                                            const struct job_spec *spec)
{
    struct resreq_entry *entry;
    size_t length;
    const char *key = key_of(cache, scratch, queue, spec, &length);
    HASH_FIND(hh, cache->by_key, key, length, entry);
    if (entry != NULL) {
        return &entry->class;
    }
    struct resreq_notes notes = {.arena = &cache->arena};
    struct resreq_error fault;
    entry = arena_alloc(&cache->arena, 1, sizeof(*entry));
    entry->class.index = (int)HASH_COUNT(cache->by_key);
    entry->class.queue = queue_of_status(cache, queue, spec);
    entry->class.is_bad = compile(cache, &cache->arena, queue, spec,
                                  &entry->class.resreq, &notes, &fault) != 0;
    key = arena_copy(&cache->arena, key, length);
    HASH_ADD_KEYPTR(hh, cache->by_key, key, length, entry);
    return &entry->class;
}
