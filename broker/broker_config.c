/* SPDX-License-Identifier: Apache-2.0 */
/* broker_config.c: see broker_config.h. conf_check has judged each value by its kind;
 * here is what they mean together. A row with a complaint is left out. */
#include "broker/broker_config.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_value.h"
#include "broker/plan/plan.h"

enum { LOST_AFTER_MS = 15000, SAMPLE_INTERVAL_MS = 60000, LEDGER_SIZE_MIB = 1024 };

struct reader {
    struct conf *conf;
    struct broker_setup *setup;
    bool is_simulated; /* files and addresses are not needed */
};

static void complain(struct reader *reader, const struct conf_place *at,
                     const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A key that is not there gets the row's line. */
static void complain(struct reader *reader, const struct conf_place *at,
                     const char *key, const char *format, ...)
{
    const struct conf_cell *cell = conf_cell(at->row, key);
    struct conf_cell missing = {.key = key, .line = at->row->line};
    va_list args;
    va_start(args, format);
    conf_complain(reader->conf, CONF_ERROR, at->section, at->row,
                  cell != NULL ? cell : &missing, "%s",
                  arena_vprintf(reader->conf->arena, format, args));
    va_end(args);
}

/* The value, or NULL and a complaint. */
static const char *need(struct reader *reader, const struct conf_place *at,
                        const char *key, const char *expected)
{
    const char *value = conf_text(at->row, key, NULL);
    if (value == NULL) {
        complain(reader, at, key, "missing, expected %s", expected);
    }
    return value;
}

/* ---------------------------------------------------------------- Broker */

static void read_http(struct reader *reader, const struct conf_place *at)
{
    struct broker_setup *setup = reader->setup;
    const char *value = conf_text(at->row, "HTTP", NULL);
    struct err err;
    struct conf_words names =
        conf_words(reader->conf->arena, conf_text(at->row, "HTTP_HOSTS", NULL));
    setup->http_hosts = names.words;
    setup->n_http_hosts = names.count;
    if (value != NULL &&
        conf_parse_address(value, reader->conf->arena, &setup->http_host,
                           &setup->http_port, &err) < 0) {
        complain(reader, at, "HTTP", "%s", err.text);
    }
}

static void read_snapshot(struct reader *reader, const struct conf_place *at)
{
    struct broker_setup *setup = reader->setup;
    const char *state = setup->state != NULL ? setup->state : "";
    setup->snapshot_interval_ms =
        conf_value_duration(reader->conf, at, "SNAPSHOT_INTERVAL", 0);
    setup->snapshot = conf_text(at->row, "SNAPSHOT", NULL);
    setup->is_state_file = strncmp(state, "postgresql://", 13) != 0 &&
                           strncmp(state, "postgres://", 11) != 0;
    if (setup->snapshot == NULL && !setup->is_state_file) {
        if (setup->snapshot_interval_ms > 0) {
            complain(reader, at, "SNAPSHOT",
                     "missing, expected a file, because STATE is a database");
        }
    } else if (setup->snapshot == NULL) {
        setup->snapshot = arena_printf(reader->conf->arena, "%s.snapshot", state);
    } else if (strcmp(setup->snapshot, state) == 0) {
        complain(reader, at, "SNAPSHOT", "the same file as STATE, expected another");
    }
}

/* Of a daemon only. */
static void read_shell(struct reader *reader, const struct conf_place *at)
{
    struct broker_setup *setup = reader->setup;
    setup->listen =
        need(reader, at, "LISTEN", "where sites connect, as tcp://HOST:PORT");
    setup->state =
        need(reader, at, "STATE", "the file of the contracts, or postgresql://...");
    setup->key = need(reader, at, "KEY", "the file of the broker's secret key");
    read_http(reader, at);
    setup->tokens = conf_text(at->row, "TOKENS", NULL);
    setup->http_roles = conf_text(at->row, "HTTP_ROLES", NULL);
    if (setup->http_roles != NULL && setup->tokens == NULL) {
        complain(reader, at, "HTTP_ROLES",
                 "without TOKENS, expected a file of TOKENS with the proxy's token");
    }
    setup->sample_interval_ms =
        conf_value_duration(reader->conf, at, "SAMPLE_INTERVAL", SAMPLE_INTERVAL_MS);
    setup->ledger_bytes =
        conf_value_int(reader->conf, at, "LEDGER_SIZE", LEDGER_SIZE_MIB) << 20;
    read_snapshot(reader, at);
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
static int read_roles(struct reader *reader, const struct conf_place *at)
{
    const char *value = need(reader, at, "ROLES", "of provider, consumer, admin");
    struct conf_words words = conf_words(reader->conf->arena, value);
    int all = 0;
    for (int i = 0; i < words.count; i++) {
        int role = role_of(words.words[i]);
        if (role == 0) {
            complain(reader, at, "ROLES",
                     "\"%s\" is not a role, expected provider, consumer or admin",
                     words.words[i]);
            return 0;
        }
        all |= role;
    }
    if (value != NULL && all == 0) {
        complain(reader, at, "ROLES", "empty, expected provider, consumer or admin");
    }
    return all;
}

/* False, with a complaint, if an earlier member has the name or the key. */
static bool check_unique(struct reader *reader, const struct conf_place *at,
                         const char *name, const char *key_file)
{
    const struct broker_setup *setup = reader->setup;
    for (int i = 0; i < setup->config.n_members; i++) {
        const char *other = setup->config.members[i].name;
        if (strcmp(other, name) == 0) {
            complain(reader, at, "NAME", "\"%s\" twice, expected each member once",
                     name);
            return false;
        }
        if (strcmp(setup->key_files[i], key_file) == 0) {
            complain(reader, at, "KEY_FILE",
                     "\"%s\" is that of \"%s\", expected a key of its own for each "
                     "member",
                     key_file, other);
            return false;
        }
    }
    return true;
}

/* Appends to arrays that are large enough. */
static void read_member(struct reader *reader, const struct conf_place *at,
                        struct broker_member *members)
{
    struct broker_setup *setup = reader->setup;
    const char *name = need(reader, at, "NAME", "a site, or an administrator");
    const char *key_file = reader->is_simulated ? name
                                                : need(reader, at, "KEY_FILE",
                                                       "the file of its public key");
    int member_roles = read_roles(reader, at);
    if (name == NULL || key_file == NULL || member_roles == 0 ||
        conf_parse_name(name, NULL) < 0 || !check_unique(reader, at, name, key_file)) {
        return;
    }
    int place = setup->config.n_members;
    if (place == MEMBERS_MAX) {
        complain(reader, at, "NAME", "one member too many, expected at most 10000");
        return;
    }
    members[place] = (struct broker_member){
        .name = name,
        .roles = member_roles,
        .max_leases = (int)conf_value_int(reader->conf, at, "MAX_LEASES", 0)};
    setup->key_files[place] = key_file;
    setup->config.n_members++;
}

static void read_members(struct reader *reader)
{
    struct conf *conf = reader->conf;
    const struct conf_section *section = NULL;
    size_t n_rows = 0;
    while ((section = conf_next(conf, "Member", section)) != NULL) {
        n_rows += (size_t)section->n_rows;
    }
    struct broker_member *members =
        arena_alloc(conf->arena, n_rows, sizeof(struct broker_member));
    reader->setup->config.members = members;
    reader->setup->key_files =
        arena_alloc(conf->arena, n_rows, sizeof(*reader->setup->key_files));
    while ((section = conf_next(conf, "Member", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            struct conf_place at = {section, &section->rows[i]};
            read_member(reader, &at, members);
        }
    }
}

static bool read_all(struct conf *conf, bool is_simulated, struct broker_setup *setup)
{
    struct reader reader = {conf, setup, is_simulated};
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
        struct conf_place at = {section, &section->rows[0]};
        setup->config.lost_after_ms =
            conf_value_duration(conf, &at, "LOST_AFTER", LOST_AFTER_MS);
        if (!is_simulated) {
            read_shell(&reader, &at);
        }
    }
    read_members(&reader);
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
