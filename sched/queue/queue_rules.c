/* SPDX-License-Identifier: Apache-2.0 */
/* queue_rules.c: see queue.h. */
#include "sched/queue/queue.h"

static void read_windows(struct conf *conf, const struct conf_place *at,
                         const char *key, struct window_list *list)
{
    const char *text = conf_text(at->row, key, NULL);
    struct err err;
    if (text != NULL && window_read(conf->arena, text, list, &err) != 0) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, key, "%s", err.text);
    }
}

void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct conf_place *at, struct queue_rules *rules)
{
    *rules = (struct queue_rules){.users = {.is_all = true}};
    job_rules_read(conf, at, &rules->job);
    if (conf_text(at->row, "USERS", NULL) != NULL) {
        rules->users = groups_read_users(conf, groups, at, "USERS");
    }
    if (conf_text(at->row, "ADMINISTRATORS", NULL) != NULL) {
        rules->admins = groups_read_users(conf, groups, at, "ADMINISTRATORS");
    }
    read_windows(conf, at, "RUN_WINDOW", &rules->run_windows);
    read_windows(conf, at, "DISPATCH_WINDOW", &rules->dispatch_windows);
    const char *ignores = conf_text(at->row, "IGNORE_DEADLINE", "N");
    if (conf_parse_bool(ignores, &rules->ignores_deadline, NULL) != 0) {
        rules->ignores_deadline = false; /* conf_check has complained */
    }
}

int queue_rules_check_user(const struct queue_rules *rules, const char *user,
                           struct err *err)
{
    return groups_has(&rules->users, user)
               ? 0
               : err_set(err, ERR_DENIED, "User cannot use the queue");
}
