/* SPDX-License-Identifier: Apache-2.0 */
/* lease_user.c: under which account jobs of other sites run: LEASE_USER, LEASE_UIDS and
 * UserMap.
 *
 * A daemon that is not root has one account, its own. A job that runs as it can read
 * its secret key and end it, so it lends nothing unless LEASE_USER = self accepts that.
 */
#include <string.h>
#include <strings.h>

#include "base/conf/conf_value.h"
#include "site/config/config_parts.h"

static const char own[] = "self";

/* Below are accounts of programs; above, numbers that file systems use for nobody. */
enum { UIDS_FIRST = 1000, UIDS_LAST = 2147483000, UIDS_MAX = 1000000 };

static void judge_own(struct conf *conf, const struct conf_place *at,
                      const struct site_machine *machine, struct site_config *config)
{
    bool accepts_own = strcmp(config->lease_account, own) == 0;
    config->lease_account = accepts_own ? "" : "root"; /* as whom no host runs them */
    config->own_account = accepts_own ? machine->user : "";
    if (accepts_own) {
        CONF_COMPLAIN(conf, CONF_WARNING, at, "LEASE_USER",
                      "jobs of other sites run as \"%s\", as the daemon does, and can "
                      "read its secret key and end it",
                      machine->user);
    } else {
        config->withheld =
            arena_printf(conf->arena,
                         "the daemon of %s does not run as root: it lends nothing "
                         "without LEASE_USER = self",
                         config->name);
        CONF_COMPLAIN(conf, CONF_WARNING, at, "LEASE_USER",
                      "the daemon runs as \"%s\" and not as root: it lends nothing "
                      "without LEASE_USER = self, by which jobs of other sites run as "
                      "\"%s\" too",
                      machine->user, machine->user);
    }
}

static bool has_several_consumers(const struct export_plan *plan)
{
    for (int i = 1; i < plan->n_leases; i++) {
        if (plan->leases[i].type == LEASE_POOL ||
            strcmp(plan->leases[i].consumer, plan->leases[0].consumer) != 0) {
            return true;
        }
    }
    return plan->n_leases > 0 && plan->leases[0].type == LEASE_POOL;
}

static void judge_root(struct conf *conf, const struct conf_place *at,
                       const struct site_machine *machine, struct site_config *config)
{
    if (strcmp(config->lease_account, own) == 0) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "LEASE_USER",
                      "\"self\" is root here, and jobs of other sites never run as "
                      "root, expected another account");
    } else if (config->users.is_set) {
        return;
    } else if (config->is_slurm && config->lease_account[0] == '\0') {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "SCHEDULER",
                      "jobs of leases run as accounts that Slurm knows, expected a "
                      "section UserMap, or LEASE_USER");
    } else if (config->lease_account[0] == '\0' && machine->uids_taken != NULL) {
        CONF_COMPLAIN(
            conf, CONF_ERROR, at, "LEASE_UIDS",
            "%lld-%lld contains the number of %s, expected a range for LEASE_UIDS "
            "without accounts",
            (long long)config->lease_uids.first, (long long)config->lease_uids.last,
            machine->uids_taken);
    } else if (config->lease_account[0] != '\0' && machine->lease_user_uid <= 0) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "LEASE_USER",
                      "\"%s\", expected a user of this machine, not root: jobs of "
                      "other sites run as that one",
                      config->lease_account);
    } else if (config->lease_account[0] != '\0' &&
               has_several_consumers(&config->exports)) {
        CONF_COMPLAIN(conf, CONF_WARNING, at, "LEASE_USER",
                      "jobs of several sites run as \"%s\", and can read, signal and "
                      "end each other; without LEASE_USER each user has an account of "
                      "LEASE_UIDS",
                      config->lease_account);
    }
}

static bool parse_number(const char *text, size_t length, int64_t *number)
{
    char digits[16];
    if (length == 0 || length >= sizeof(digits)) {
        return false;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    return conf_parse_int(digits, UIDS_FIRST, UIDS_LAST, number, NULL) == 0;
}

void lease_user_read_uids(struct conf *conf, const struct conf_place *site,
                          struct site_config *config)
{
    const char *text = conf_value_text(conf, site, "LEASE_UIDS");
    const char *dash = strchr(text, '-');
    struct uid_range range;
    if (dash != NULL && parse_number(text, (size_t)(dash - text), &range.first) &&
        parse_number(dash + 1, strlen(dash + 1), &range.last) &&
        range.first <= range.last && range.last - range.first < UIDS_MAX) {
        config->lease_uids = range;
        return;
    }
    config->lease_uids = (struct uid_range){UIDS_FIRST, UIDS_FIRST};
    CONF_COMPLAIN(conf, CONF_ERROR, site, "LEASE_UIDS",
                  "\"%s\", expected FIRST-LAST, at most %d numbers from %d to %d", text,
                  UIDS_MAX, UIDS_FIRST, UIDS_LAST);
}

void lease_user_judge(struct conf *conf, const struct site_machine *machine,
                      struct site_config *config)
{
    const struct conf_section *section = conf_next(conf, "Site", NULL);
    struct conf_place at = {section, &section->rows[0]};
    config->daemon_uid = machine->uid;
    if (config->exports.n_leases == 0) {
        config->lease_account = machine->uid == 0 ? config->lease_account : "";
    } else if (machine->uid == 0) {
        judge_root(conf, &at, machine, config);
    } else {
        judge_own(conf, &at, machine, config);
    }
}

static const char *add_account(struct arena *arena, const char *accounts,
                               const char *name)
{
    size_t length = strlen(name);
    for (const char *at = accounts; length > 0 && *at != '\0';) {
        size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, name, length) == 0) {
            return accounts;
        }
        at += word + (at[word] == ',');
    }
    return length == 0 ? accounts
                       : arena_printf(arena, "%s%s%s", accounts,
                                      accounts[0] != '\0' ? "," : "", name);
}

const char *lease_user_accounts(const struct site_config *config, const char *consumer,
                                struct arena *arena)
{
    const char *accounts = "";
    if (!config->users.is_set) {
        return add_account(arena, "",
                           config->own_account[0] != '\0' ? config->own_account
                                                          : config->lease_account);
    }
    for (int i = 0; i < config->users.n_rows; i++) {
        const struct user_map_row *row = &config->users.rows[i];
        const char *name = strcasecmp(row->local, "all") == 0 ? row->user : row->local;
        if (strcmp(row->site, consumer) == 0) {
            accounts = add_account(arena, accounts, name);
        }
    }
    return accounts;
}
