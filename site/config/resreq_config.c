/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_config.c: requirement strings in the configuration: RES_REQ and RESRSV_LIMIT
 * of queues, their STOP_COND and RESUME_COND, RES_SELECT of export policies, and the
 * rules by which they are read (LSF_STRICT_RESREQ, PARALLEL_SCHED_BY_SLOT). Errors have
 * LSF's sentence, the column and a hint.
 *
 * RES_SELECT is a select section only, its default is `type == any`, and there is no
 * local host. If the configuration gives all that it names (type, model and factor of
 * every host, RESOURCES, ResourceMap, names, slots), it is judged at once; else when
 * the hosts have reported (site_resource.h). Simulated hosts do not report: what the
 * configuration does not give is absent there.
 *
 * Source: docs/design/leases.md "Export policies", "Decided"; docs/design/resreq.md
 * "Sections", "Select". */
#include "site/config/config_parts.h"

#include <stdlib.h>

#include "base/conf/conf_value.h"
#include "site/resource/host_resources.h"

/* ---------------------------------------------------------------- one string */

/* False, with an error, if the string is wrong. */
static bool compile(struct conf *conf, const struct conf_place *at,
                    const struct conf_cell *cell, const struct resreq_rules *rules,
                    struct resreq *resreq)
{
    struct resreq_notes notes = {.arena = conf->arena};
    struct resreq_error fault;
    struct resreq_strings from = {.queue = cell->value};
    bool is_good =
        resreq_compile(conf->arena, rules, &from, resreq, &notes, &fault) == 0;
    if (!is_good) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, cell, "%s Column %d: %s",
                      fault.text, fault.at + 1, fault.hint);
    }
    if (is_good && resreq->next != NULL && rules->defaults_any) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, cell,
                      "alternatives are for RES_REQ, expected one selection");
        is_good = false;
    }
    for (struct resreq_note *note = notes.first; note != NULL; note = note->next) {
        conf_complain(conf, CONF_WARNING, at->section, at->row, cell, "column %d: %s",
                      note->at + 1, note->text);
    }
    return is_good;
}

/* ---------------------------------------------------------------- rows */

static void check_key(struct conf *conf, const char *name, const char *key,
                      const struct resreq_rules *rules)
{
    struct conf_place at = {0};
    struct resreq resreq;
    while (conf_next_row(conf, name, &at)) {
        const struct conf_cell *cell = conf_cell(at.row, key);
        if (cell != NULL && cell->value != NULL) {
            compile(conf, &at, cell, rules, &resreq);
        }
    }
}

/* Checks RESRSV_LIMIT of a queue, and that what the queue reserves by itself is within
 * it. `resreq` is NULL if RES_REQ is wrong. */
static void check_range(struct conf *conf, const struct conf_place *at,
                        const struct resources *resources, const struct resreq *resreq)
{
    const struct conf_cell *cell = conf_cell(at->row, "RESRSV_LIMIT");
    struct resrsv_limits ranges;
    struct resreq_error fault;
    if (cell == NULL || cell->value == NULL) {
        return;
    }
    if (resrsv_limit_parse(conf->arena, resources, cell->value, &ranges, &fault) != 0) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, cell, "column %d: %s",
                      fault.at + 1, fault.hint);
        return;
    }
    int code = 0;
    for (; resreq != NULL && code == 0; resreq = resreq->next) {
        code = resrsv_limit_check(conf->arena, resources, &ranges, &resreq->rusages,
                                  &fault);
    }
    if (code != 0) {
        conf_complain(conf, CONF_ERROR, at->section, at->row,
                      conf_cell(at->row, "RES_REQ"), "column %d: %s", fault.at + 1,
                      fault.hint);
    }
}

/* A queue whose own requirement is about exclusive use allows that use. */
static void check_exclusive(struct conf *conf, const struct conf_place *at,
                            const struct compute_units *units,
                            const struct resreq *resreq)
{
    const struct conf_cell *cell = conf_cell(at->row, "RES_REQ");
    struct queue_config queue;
    struct err err;
    if (queue_exclusive_read(conf->arena, conf_text(at->row, "EXCLUSIVE", "N"), &queue,
                             &err) != 0) {
        return; /* reported elsewhere */
    }
    const struct resreq_cu *cu = &resreq->span.cu;
    if (cu->is_exclusive && !compute_units_may_exclude(units, &queue, cu->type)) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, cell,
                      "cu[excl] needs EXCLUSIVE = CU[%s] in this queue, or all of its "
                      "jobs are refused",
                      units->types.names[cu->type]);
    }
    if ((resreq->affinity.scopes & CPU_SCOPE_ALLJOBS) != 0 && !queue.is_exclusive) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, cell,
                      "exclusive=(LEVEL,alljobs) needs EXCLUSIVE = Y in this queue, or "
                      "all of its jobs are refused");
    }
}

/* check_key reports what is wrong in RES_REQ itself. */
static void check_queue(struct conf *conf, const struct conf_place *at,
                        const struct site_config *config,
                        const struct resreq_rules *rules)
{
    struct resreq_strings from = {.queue = conf_text(at->row, "RES_REQ", NULL)};
    struct resreq_notes notes = {.arena = conf->arena};
    struct resreq_error fault;
    struct resreq resreq;
    bool is_good =
        resreq_compile(conf->arena, rules, &from, &resreq, &notes, &fault) == 0;
    check_range(conf, at, rules->language.resources, is_good ? &resreq : NULL);
    if (is_good) {
        check_exclusive(conf, at, &config->units, &resreq);
    }
}

static void check_keys(struct conf *conf, const struct site_config *config)
{
    struct resources *resources = resource_config_catalogue(&config->resource_config);
    struct resreq_rules rules = resreq_config_rules(config, resources);
    struct resreq_rules conditions = resreq_config_select_rules(config, resources);
    struct conf_place at = {0};
    check_key(conf, "Queue", "RES_REQ", &rules);
    check_key(conf, "Application", "RES_REQ", &rules);
    while (conf_next_row(conf, "Queue", &at)) {
        check_queue(conf, &at, config, &rules);
    }
    check_key(conf, "Queue", "STOP_COND", &conditions);
    check_key(conf, "Queue", "RESUME_COND", &conditions);
    resources_free(resources);
}

static bool last_bool(const struct conf *conf, const char *section, const char *key,
                      bool otherwise)
{
    struct conf_place at = conf_value_last(conf, section, key);
    return conf_value_bool(conf, &at, key, otherwise);
}

void resreq_config_read(struct conf *conf, struct site_config *config)
{
    config->is_resreq_lenient = !last_bool(conf, "", "LSF_STRICT_RESREQ", true);
    config->is_sched_by_slot =
        last_bool(conf, "Parameters", "PARALLEL_SCHED_BY_SLOT", false);
    check_keys(conf, config);
}

/* ---------------------------------------------------------------- RES_SELECT */

struct resreq_selector {
    struct conf *conf;
    const struct site_config *config;
    struct host_resources *host_resources; /* of hosts that have reported nothing */
    bool is_simulated;
};

const struct resreq_local resreq_config_nowhere = {.type = "", .model = ""};

struct resreq_rules resreq_config_rules(const struct site_config *config,
                                        const struct resources *resources)
{
    return (struct resreq_rules){
        .language = {.resources = resources,
                     .unit_types = config->units.types,
                     .is_lenient = config->is_resreq_lenient,
                     .has_local = true,
                     .counts_slots = config->is_sched_by_slot},
        .reading = RESREQ_READ_ALL,
    };
}

struct resreq_rules resreq_config_select_rules(const struct site_config *config,
                                               const struct resources *resources)
{
    struct resreq_rules rules = resreq_config_rules(config, resources);
    rules.reading = RESREQ_READ_ALL;
    rules.language.has_local = false;
    rules.defaults_any = true;
    return rules;
}

struct resreq_selector *resreq_config_selector(struct conf *conf,
                                               const struct site_config *config,
                                               bool is_simulated)
{
    struct resreq_selector *selector = mem_alloc(1, sizeof(*selector));
    selector->conf = conf;
    selector->config = config;
    selector->is_simulated = is_simulated;
    selector->host_resources = host_resources_new(config);
    for (int i = 0; i < config->n_hosts; i++) {
        if (!config->hosts[i].is_counted) {
            resource_table_set_number(host_resources_table(selector->host_resources), i,
                                      RESOURCE_MAXSLOTS, config->hosts[i].max);
        }
    }
    return selector;
}

void resreq_config_free(struct resreq_selector *selector)
{
    if (selector == NULL) {
        return;
    }
    host_resources_free(selector->host_resources);
    free(selector);
}

/* The first resource that hosts report, or -1. */
static int find_reported(const struct host_resources *host_resources,
                         const struct resreq_program *program)
{
    for (int i = 0; i < program->n_instrs; i++) {
        const struct resreq_instr *instr = &program->instrs[i];
        bool has_resource = instr->op == RESREQ_OP_FLAG || instr->op == RESREQ_OP_HAS ||
                            instr->op == RESREQ_OP_TEXT ||
                            instr->op == RESREQ_OP_COLUMN;
        if (has_resource && !host_resources_is_configured(host_resources, instr->id)) {
            return instr->id;
        }
    }
    return -1;
}

/* False, with a warning, if hosts have to report a value first. */
static bool is_settled(struct resreq_selector *selector, const struct conf_place *at,
                       const struct conf_cell *cell,
                       const struct resreq_program *program)
{
    int id = find_reported(selector->host_resources, program);
    if (id < 0) {
        return true;
    }
    const char *name =
        resources_at(host_resources_catalogue(selector->host_resources), id)->name;
    conf_complain(selector->conf, CONF_WARNING, at->section, at->row, cell,
                  selector->is_simulated ? "%s is reported by hosts, and simulated "
                                           "hosts do not report it: it is absent"
                                         : "%s is reported by hosts: the hosts are "
                                           "chosen once, after they have reported",
                  name);
    return selector->is_simulated;
}

enum export_answer resreq_config_match(void *arg, const struct conf_section *section,
                                       const struct conf_row *row,
                                       const struct conf_cell *cell, uint8_t *matches)
{
    struct resreq_selector *selector = arg;
    struct conf_place at = {section, row};
    struct resreq_rules rules = resreq_config_select_rules(
        selector->config, host_resources_catalogue(selector->host_resources));
    struct resreq resreq;
    if (!compile(selector->conf, &at, cell, &rules, &resreq)) {
        return EXPORT_REFUSED;
    }
    if ((resreq.sections & ~(1U << RESREQ_SELECT)) != 0) {
        conf_complain(selector->conf, CONF_ERROR, section, row, cell,
                      "more than a select section, expected that alone");
        return EXPORT_REFUSED;
    }
    if (!is_settled(selector, &at, cell, &resreq.program)) {
        return EXPORT_DEFERRED;
    }
    resreq_program_run(&resreq.program, host_resources_table(selector->host_resources),
                       NULL, &resreq_config_nowhere, matches);
    return EXPORT_MATCHED;
}
