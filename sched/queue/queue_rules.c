/* SPDX-License-Identifier: Apache-2.0 */
/* queue_rules.c: see queue_rules.h. */
#include "sched/queue/queue_rules.h"

struct reader {
    struct conf *conf;
    const struct group_place *place; /* its cell is not used */
    struct queue_rules *rules;
};

static const struct conf_cell *cell_of(const struct reader *reader, const char *key)
{
    const struct conf_cell *cell = conf_cell(reader->place->row, key);
    return cell != NULL && cell->value != NULL ? cell : NULL;
}

#define COMPLAIN(reader, cell, ...)                                                    \
    conf_complain((reader)->conf, CONF_ERROR, (reader)->place->section,                \
                  (reader)->place->row, cell, __VA_ARGS__)

/* ---------------------------------------------------------------- values */

static void read_users(struct reader *reader, const struct groups *groups)
{
    const struct conf_cell *cell = cell_of(reader, "USERS");
    reader->rules->users = (struct name_set){.is_all = true};
    if (cell != NULL) {
        struct group_place place = *reader->place;
        place.cell = cell;
        reader->rules->users = groups_read_users(reader->conf, groups, &place);
    }
}

static void read_windows(struct reader *reader, const char *key,
                         struct window_list *list)
{
    const struct conf_cell *cell = cell_of(reader, key);
    struct err err;
    if (cell != NULL &&
        window_read(reader->conf->arena, cell->value, list, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
    }
}

void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct group_place *place, struct queue_rules *rules)
{
    struct reader reader = {conf, place, rules};
    *rules = (struct queue_rules){0};
    job_rules_read(conf, place->section, place->row, &rules->job);
    read_users(&reader, groups);
    read_windows(&reader, "RUN_WINDOW", &rules->run_windows);
    read_windows(&reader, "DISPATCH_WINDOW", &rules->dispatch_windows);
}

/* ---------------------------------------------------------------- jobs */

int queue_rules_check_user(const struct queue_rules *rules, const char *user,
                           struct err *err)
{
    return groups_has(&rules->users, user)
               ? 0
               : err_set(err, ERR_DENIED, "User cannot use the queue");
}
