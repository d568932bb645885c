/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_check.c: checks names of queues, hosts, jobs and leases against the
 * configurations and the other statements. */
#include "sim/scenario/scenario_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "broker/lease/lease.h"
#include "broker/plan/plan.h"
#include "sched/pending/pending.h"
#include "sched/queue/queue.h"
#include "sim/scenario/scenario_build.h"
#include "site/config/resource_config.h"
#include "site/config/site_config.h"

static const struct site_config *config_of(const struct scenario *scenario, int site)
{
    return &scenario->sites[site].setup.config;
}

static bool has_queue(const struct site_config *config, const char *name)
{
    for (int i = 0; i < config->n_queues; i++) {
        if (!strcmp(config->queues[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool has_application(const struct site_config *config, const char *name)
{
    return application_find(config->applications, config->n_applications, name) != NULL;
}

static bool has_host(const struct site_config *config, const char *name)
{
    for (int i = 0; i < config->n_hosts; i++) {
        if (!strcmp(config->hosts[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* True in its first configuration or in any later one. */
static bool is_ever(const struct scenario *scenario, int site,
                    bool (*has)(const struct site_config *config, const char *name),
                    const char *name)
{
    bool is_there = has(config_of(scenario, site), name);

    for (int i = 0; i < scenario->n_statements && !is_there; i++) {
        const struct statement *at = &scenario->statements[i];

        is_there = at->kind == STATEMENT_RELOAD && at->site == site &&
                   has(&at->reload->site.config, name);
    }
    return is_there;
}

static void check_queue(struct scenario *scenario, const struct statement *at,
                        const char *name)
{
    const struct site_config *config = config_of(scenario, at->site);

    if (name[0] ? !is_ever(scenario, at->site, has_queue, name)
                : config->n_queues == 0) {
        scenario_build_complain(
            scenario, at->line,
            "unknown queue \"%s\" of %s, expected one of its section Queue", name,
            scenario->sites[at->site].name);
    }
}

static void check_application(struct scenario *scenario, const struct statement *at,
                              const char *name)
{
    if (name[0] && !is_ever(scenario, at->site, has_application, name)) {
        scenario_build_complain(scenario, at->line,
                                "unknown application \"%s\" of %s, expected one of its "
                                "section Application",
                                name, scenario->sites[at->site].name);
    }
}

/* Checks own hosts; "n1@north" is known only once it is borrowed. */
static void check_host(struct scenario *scenario, const struct statement *at,
                       const char *name)
{
    const char *sign = strchr(name, '@');
    int owner = sign ? scenario_find_site(scenario, sign + 1) : at->site;
    char host[HOST_NAME_SIZE];

    snprintf(host, sizeof host, "%.*s", (int)strcspn(name, "@"), name);
    if (owner < 0 || (config_of(scenario, owner)->n_queues > 0 &&
                      !is_ever(scenario, owner, has_host, host))) {
        scenario_build_complain(
            scenario, at->line,
            "unknown host \"%.80s\" of %s, expected one of its section "
            "Host",
            name, scenario->sites[at->site].name);
    }
}

static void check_site(struct scenario *scenario, const struct statement *at,
                       const char *name)
{
    if (scenario_find_site(scenario, name) < 0) {
        scenario_build_complain(
            scenario, at->line,
            "\"%.80s\" is neither a lease nor a site, expected "
            "PROVIDER/POLICY/CONSUMER or one of the scenario's sites",
            name);
    }
}

static void check_lease(struct scenario *scenario, const struct statement *at,
                        const char *name)
{
    struct lease_id id;

    if (!lease_parse_id(name, &id)) {
        scenario_build_complain(
            scenario, at->line,
            "\"%.80s\" is not a lease, expected PROVIDER/POLICY/CONSUMER", name);
    } else if (scenario_find_site(scenario, id.provider) < 0 ||
               (id.part != LEASE_IDLE &&
                scenario_find_site(scenario, id.consumer) < 0)) {
        scenario_build_complain(scenario, at->line,
                                "lease \"%s\" is of no site of the scenario, expected "
                                "PROVIDER/POLICY/CONSUMER",
                                name);
    }
}

/* ---- jobs */

/* `whole`: a whole array is allowed. */
static void check_job(struct scenario *scenario, const struct statement *at,
                      const char *name, bool may_be_whole)
{
    int index;
    const struct statement *submit =
        scenario_find_job(scenario, at->site, name, &index);

    if (!submit) {
        scenario_build_complain(
            scenario, at->line,
            "unknown job \"%.80s\" of %s, expected the name of one that "
            "is submitted there",
            name, scenario->sites[at->site].name);
    } else if (index == 0 && submit->submit.count > 0 && !may_be_whole) {
        scenario_build_complain(
            scenario, at->line, "\"%.80s\" is %d jobs, expected one of %s[1] to %s[%d]",
            name, submit->submit.count, name, name, submit->submit.count);
    }
}

struct seen_name {
    char key[2 * NAME_SIZE + 2];
    int line;
    UT_hash_handle hh;
};

/* A job's name must be unique at its site. */
static void check_unique(struct scenario *scenario)
{
    struct seen_name *seen = NULL, *next, *found, *names;
    int n_names = 0;

    names = mem_alloc((size_t)scenario->n_statements + 1, sizeof names[0]);
    for (int i = 0; i < scenario->n_statements; i++) {
        const struct statement *at = &scenario->statements[i];
        struct seen_name *name = &names[n_names];

        if (at->kind != STATEMENT_SUBMIT) {
            continue;
        }
        snprintf(name->key, sizeof name->key, "%d %s", at->site, at->submit.name);
        HASH_FIND_STR(seen, name->key, found);
        if (found) {
            scenario_build_complain(
                scenario, at->line,
                "submit: job \"%s\" twice (line %d), expected a name of "
                "its own",
                at->submit.name, found->line);
            continue;
        }
        name->line = at->line;
        HASH_ADD_STR(seen, key, name);
        n_names++;
    }
    HASH_ITER (hh, seen, found, next)
        HASH_DEL(seen, found);
    free(names);
}

/* ---- all */

/* Searches the plans of all windows. */
static void check_node(struct scenario *scenario, const struct statement *at,
                       const struct statement_expect *expect)
{
    const struct plan_pools *pools = scenario->broker.config.pools;
    const struct plan_pool *pool = pools ? plan_config_find(pools, expect->pool) : NULL;

    if (!pool) {
        scenario_build_complain(scenario, at->line,
                                "unknown pool \"%.40s\", expected one of the broker's",
                                expect->pool);
        return;
    }
    for (int i = 0; i < pool->n_windows || i == 0; i++) {
        if (plan_find(&pool->plans[i], expect->name) != PLAN_NO_NODE) {
            return;
        }
    }
    scenario_build_complain(scenario, at->line,
                            "unknown node \"%.80s\", expected one of pool %s",
                            expect->name, pool->name);
}

static void check_expect(struct scenario *scenario, const struct statement *at)
{
    const struct statement_expect *expect = &at->expect;

    if (!strcmp(expect->thing, "job")) {
        check_job(scenario, at, expect->name, false);
    } else if (!strcmp(expect->thing, "host")) {
        check_host(scenario, at, expect->name);
    } else if (!strcmp(expect->thing, "queue")) {
        check_queue(scenario, at, expect->name);
    } else if (!strcmp(expect->thing, "lease")) {
        check_lease(scenario, at, expect->name);
    } else if (!strcmp(expect->thing, "node")) {
        check_node(scenario, at, expect);
    } else if (scenario_find_site(scenario, expect->name) < 0) {
        scenario_build_complain(
            scenario, at->line,
            "unknown site \"%.40s\", expected one of the scenario's", expect->name);
    }
}

/* Uses the site's own resources and rules. */
static void check_res(struct scenario *scenario, const struct statement *at)
{
    const struct site_config *config = config_of(scenario, at->site);
    struct resources *resources = resource_config_catalogue(&config->resource_config);
    struct resreq_rules rules = resreq_config_rules(config, resources);
    struct resreq_strings from = {.strings = &at->submit.res, .n_strings = 1};
    struct resreq_notes notes = {.arena = &scenario->arena};
    struct resreq_error fault;
    struct resreq resreq;

    if (resreq_compile(&scenario->arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        scenario_build_complain(scenario, at->line, "res: %s Column %d: %s", fault.text,
                                fault.at + 1, fault.hint);
    }
    resources_free(resources);
}

/* Dependencies name earlier jobs by name or "name*", since ids are not known here. */
struct name_search {
    const struct scenario *scenario;
    const struct statement *at;
};

static bool is_before(const struct statement *one, const struct statement *other)
{
    return one->at_ms < other->at_ms ||
           (one->at_ms == other->at_ms && one->line < other->line);
}

static int find_names(void *arg, const char *name, const uint64_t **ids)
{
    static const uint64_t any[] = {1};
    const struct name_search *search = arg;
    size_t length = strlen(name);
    bool is_prefix = length > 0 && name[length - 1] == '*';

    *ids = any;
    for (int i = 0; i < search->scenario->n_statements; i++) {
        const struct statement *other = &search->scenario->statements[i];

        if (other->kind == STATEMENT_SUBMIT && other->site == search->at->site &&
            is_before(other, search->at) &&
            (is_prefix ? !strncmp(other->submit.name, name, length - 1)
                       : !strcmp(other->submit.name, name))) {
            return strspn(name, "0123456789") < length;
        }
    }
    return 0;
}

static void check_after(struct scenario *scenario, const struct statement *at)
{
    struct name_search search = {scenario, at};
    const char *resolved;
    struct err err;

    if (depend_resolve(&scenario->arena, at->submit.after, find_names, &search,
                       &resolved, &err) != 0) {
        scenario_build_complain(
            scenario, at->line,
            "after: %s, expected jobs that are submitted there before", err.text);
    }
}

/* Checks hosts, groups and keywords of `hosts=`. */
static void check_hosts(struct scenario *scenario, const struct statement *at)
{
    const struct site_config *config = config_of(scenario, at->site);
    const struct conf_words *hosts = &at->submit.hosts;
    struct host_list asked = {0};
    struct err err;

    if (hosts->count > 0 &&
        host_list_parse(&scenario->arena, &config->groups, hosts->words, hosts->count,
                        &asked, &err) != 0) {
        scenario_build_complain(scenario, at->line, "hosts: %s", err.text);
        return;
    }
    for (int i = 0; i < asked.n_terms; i++) {
        if (asked.terms[i].kind == QUEUE_HOST || asked.terms[i].kind == QUEUE_HOST_AT) {
            check_host(scenario, at, asked.terms[i].name);
        }
    }
}

static void check_submit(struct scenario *scenario, const struct statement *at)
{
    check_queue(scenario, at, at->submit.queue);
    check_application(scenario, at, at->submit.app);
    if (at->submit.res != NULL) {
        check_res(scenario, at);
    }
    if (at->submit.after != NULL) {
        check_after(scenario, at);
    }
    check_hosts(scenario, at);
}

void scenario_check_names(struct scenario *scenario)
{
    for (int i = 0; i < scenario->n_statements; i++) {
        const struct statement *at = &scenario->statements[i];

        if (at->site >= 0 && config_of(scenario, at->site)->n_queues == 0) {
            continue; /* reported already */
        }
        if (at->kind == STATEMENT_SUBMIT) {
            check_submit(scenario, at);
        } else if (at->kind == STATEMENT_WORKLOAD) {
            check_queue(scenario, at, at->workload.queue);
        } else if (at->kind == STATEMENT_CONTROL || at->kind == STATEMENT_RESIZE) {
            check_job(scenario, at, at->name, true);
        } else if (at->kind == STATEMENT_MOVE) {
            check_job(scenario, at, at->name, true);
            if (at->move == MOVE_SWITCH) {
                check_queue(scenario, at, at->queue);
            }
        } else if (at->kind == STATEMENT_QUEUE) {
            check_queue(scenario, at, at->name);
        } else if (at->kind == STATEMENT_SLOTS || at->kind == STATEMENT_LOAD ||
                   at->kind == STATEMENT_HOST) {
            check_host(scenario, at, at->name);
        } else if (at->kind == STATEMENT_DRAIN && !strchr(at->name, '/')) {
            check_site(scenario, at, at->name);
        } else if (at->kind == STATEMENT_DRAIN || at->kind == STATEMENT_REBALANCE ||
                   (at->kind == STATEMENT_RECLAIM && at->scope == RECLAIM_LEASE)) {
            check_lease(scenario, at, at->name);
        } else if (at->kind == STATEMENT_EXPECT) {
            check_expect(scenario, at);
        }
    }
    check_unique(scenario);
}
