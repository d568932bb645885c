/* SPDX-License-Identifier: Apache-2.0 */
/* broker_config.c: see broker_config.h. conf_check has judged each value by its kind;
 * here is what they mean together. A row with a complaint is left out. */
#include "broker/broker_config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "broker/plan/plan_config.h"

enum { LOST_AFTER_MS = 15000, SAMPLE_INTERVAL_MS = 60000, SECOND_MS = 1000 };

/* A row, and where it stands, for complaints. */
struct place {
    struct conf *conf;
    bool is_simulated; /* files and addresses are not needed */
    const struct conf_section *section;
    const struct conf_row *row;
};

/* Also of a key that is not there: the row's line then. */
static void complain(const struct place *at, const char *key, const char *text)
{
    const struct conf_cell *cell = conf_cell(at->row, key);
    struct conf_cell missing = {.key = key, .line = at->row->line};
    conf_complain(at->conf, CONF_ERROR, at->section, at->row,
                  cell != NULL ? cell : &missing, "%s", text);
}

/* The value, or NULL and a complaint. */
static const char *need(const struct place *at, const char *key, const char *expected)
{
    const char *value = conf_text(at->row, key, NULL);
    if (value == NULL) {
        complain(at, key,
                 arena_printf(at->conf->arena, "missing, expected %s", expected));
    }
    return value;
}

/* ---------------------------------------------------------------- Broker */

static void read_lost_after(const struct place *at, struct broker_config *config)
{
    const char *value = conf_text(at->row, "LOST_AFTER", NULL);
    config->lost_after_ms = LOST_AFTER_MS;
    if (value != NULL &&
        conf_parse_duration(value, SECOND_MS, &config->lost_after_ms, NULL) < 0) {
        config->lost_after_ms = LOST_AFTER_MS; /* conf_check has complained */
    }
}

static void read_http(const struct place *at, struct broker_setup *setup)
{
    const char *value = conf_text(at->row, "HTTP", NULL);
    struct err err;
    if (value != NULL && conf_parse_address(value, at->conf->arena, &setup->http_host,
                                            &setup->http_port, &err) < 0) {
        complain(at, "HTTP", arena_str(at->conf->arena, err.text));
    }
}

static void read_sampling(const struct place *at, struct broker_setup *setup)
{
    const char *interval = conf_text(at->row, "SAMPLE_INTERVAL", NULL);
    setup->sample_interval_ms = SAMPLE_INTERVAL_MS;
    if (interval != NULL && conf_parse_duration(interval, SECOND_MS,
                                                &setup->sample_interval_ms, NULL) < 0) {
        setup->sample_interval_ms = SAMPLE_INTERVAL_MS; /* conf_check has complained */
    }
}

static void read_snapshot(const struct place *at, struct broker_setup *setup)
{
    const char *interval = conf_text(at->row, "SNAPSHOT_INTERVAL", NULL);
    if (interval != NULL &&
        conf_parse_duration(interval, SECOND_MS, &setup->snapshot_interval_ms, NULL) <
            0) {
        setup->snapshot_interval_ms = 0; /* conf_check has complained */
    }
    const char *state = setup->state != NULL ? setup->state : "";
    setup->snapshot = conf_text(at->row, "SNAPSHOT", NULL);
    if (setup->snapshot == NULL) {
        setup->snapshot = arena_printf(at->conf->arena, "%s.snapshot", state);
    } else if (strcmp(setup->snapshot, state) == 0) {
        complain(at, "SNAPSHOT", "the same file as STATE, expected another");
    }
}

/* Of a daemon only. */
static void read_shell(const struct place *at, struct broker_setup *setup)
{
    setup->listen = need(at, "LISTEN", "where sites connect, as tcp://HOST:PORT");
    setup->state = need(at, "STATE", "the file of the contracts");
    setup->key = need(at, "KEY", "the file of the broker's secret key");
    read_http(at, setup);
    setup->tokens = conf_text(at->row, "TOKENS", NULL);
    read_sampling(at, setup);
    read_snapshot(at, setup);
}

/* ---------------------------------------------------------------- Member */

static const struct {
    const char *word;
    int role;
} roles[] = {
    {"provider", ROLE_PROVIDER}, {"consumer", ROLE_CONSUMER}, {"admin", ROLE_ADMIN}};

static int role_of(const char *word)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcasecmp(word, roles[i].word) == 0) {
            return roles[i].role;
        }
    }
    return 0;
}

/* All of enum role that the cell names, 0 after a complaint. */
static int read_roles(const struct place *at)
{
    const char *value = need(at, "ROLES", "of provider, consumer, admin");
    struct conf_words words = conf_words(at->conf->arena, value);
    int all = 0;
    for (int i = 0; i < words.count; i++) {
        int role = role_of(words.words[i]);
        if (role == 0) {
            complain(
                at, "ROLES",
                arena_printf(at->conf->arena,
                             "\"%s\" is no role, expected provider, consumer or admin",
                             words.words[i]));
            return 0;
        }
        all |= role;
    }
    if (value != NULL && all == 0) {
        complain(at, "ROLES", "empty, expected provider, consumer or admin");
    }
    return all;
}

/* False, with a complaint, where an earlier member has the name or the key. */
static bool check_unique(const struct place *at, const struct broker_setup *setup,
                         const char *name, const char *key_file)
{
    struct arena *arena = at->conf->arena;
    for (int i = 0; i < setup->config.n_members; i++) {
        const char *other = setup->config.members[i].name;
        if (strcmp(other, name) == 0) {
            complain(
                at, "NAME",
                arena_printf(arena, "\"%s\" twice, expected each member once", name));
            return false;
        }
        if (strcmp(setup->key_files[i], key_file) == 0) {
            complain(at, "KEY_FILE",
                     arena_printf(arena,
                                  "\"%s\" is that of \"%s\", expected a key of its "
                                  "own for each member",
                                  key_file, other));
            return false;
        }
    }
    return true;
}

/* Appends to arrays that are large enough. */
static void read_member(const struct place *at, struct broker_setup *setup,
                        struct broker_member *members)
{
    const char *name = need(at, "NAME", "a site, or an administrator");
    const char *key_file =
        at->is_simulated ? name : need(at, "KEY_FILE", "the file of its public key");
    int member_roles = read_roles(at);
    if (name == NULL || key_file == NULL || member_roles == 0 ||
        conf_parse_name(name, NULL) < 0 || !check_unique(at, setup, name, key_file)) {
        return;
    }
    int place = setup->config.n_members;
    if (place == MEMBERS_MAX) {
        complain(at, "NAME", "one member too many, expected at most 10000");
        return;
    }
    members[place] = (struct broker_member){.name = name, .roles = member_roles};
    setup->key_files[place] = key_file;
    setup->config.n_members++;
}

static void read_members(struct conf *conf, bool is_simulated,
                         struct broker_setup *setup)
{
    const struct conf_section *section = NULL;
    size_t n_rows = 0;
    while ((section = conf_next(conf, "Member", section)) != NULL) {
        n_rows += (size_t)section->n_rows;
    }
    struct broker_member *members =
        arena_alloc(conf->arena, n_rows, sizeof(struct broker_member));
    setup->config.members = members;
    setup->key_files = arena_alloc(conf->arena, n_rows, sizeof(*setup->key_files));
    while ((section = conf_next(conf, "Member", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            struct place at = {conf, is_simulated, section, &section->rows[i]};
            read_member(&at, setup, members);
        }
    }
}

static bool read_all(struct conf *conf, bool is_simulated, struct broker_setup *setup)
{
    memset(setup, 0, sizeof(*setup));
    const struct conf_section *section = conf_next(conf, "Broker", NULL);
    if (section == NULL) {
        return false;
    }
    const struct conf_section *second = conf_next(conf, "Broker", section);
    if (second != NULL) {
        conf_complain(conf, CONF_ERROR, second, NULL, NULL,
                      "a second section Broker, expected one");
    }
    if (section->n_rows == 0 && !is_simulated) {
        conf_complain(conf, CONF_ERROR, section, NULL, NULL,
                      "empty, expected LISTEN, STATE and KEY");
        return true;
    }
    setup->config.lost_after_ms = LOST_AFTER_MS;
    if (section->n_rows > 0) {
        struct place at = {conf, is_simulated, section, &section->rows[0]};
        read_lost_after(&at, &setup->config);
        if (!is_simulated) {
            read_shell(&at, setup);
        }
    }
    read_members(conf, is_simulated, setup);
    return true;
}

static bool read_with_pools(struct conf *conf, bool is_simulated,
                            struct broker_setup *setup)
{
    struct plan_pools *pools = arena_alloc(conf->arena, 1, sizeof(*pools));
    bool has_broker = read_all(conf, is_simulated, setup);
    if (has_broker && plan_config_read(conf, pools)) {
        setup->config.pools = pools;
    }
    return has_broker;
}

bool broker_config_read(struct conf *conf, struct broker_setup *setup)
{
    return read_with_pools(conf, false, setup);
}

bool broker_config_read_simulated(struct conf *conf, struct broker_setup *setup)
{
    return read_with_pools(conf, true, setup);
}
