/* SPDX-License-Identifier: Apache-2.0 */
/* broker_config.h: reads the Broker and Member sections into a configuration, with the
 * pools of the same files (plan.h).
 *
 * Errors become diagnostics of `conf`. Ownership: all in conf's arena.
 * Layer: broker. */
#ifndef SUBLET_BROKER_BROKER_CONFIG_H
#define SUBLET_BROKER_BROKER_CONFIG_H

#include "base/conf/conf.h"
#include "broker/broker.h"

/* The configuration of the step machine, and what only the shell needs. */
struct broker_setup {
    struct broker_config config;
    const char *listen, *state, *key;
    bool is_state_file;     /* STATE is a path, not a URL of PostgreSQL */
    const char **key_files; /* of each member, same order */
    const char *http_host;  /* NULL: no HTTP; "*": all addresses */
    const char *http_port;
    const char *const *http_hosts; /* HTTP_HOSTS */
    int n_http_hosts;
    const char *tokens;     /* NULL: no changes over HTTP */
    const char *http_roles; /* of a proxy's users; NULL: there is no such proxy */
    int64_t sample_interval_ms;
    int64_t ledger_bytes; /* LEDGER_SIZE */
    const char *snapshot; /* file of the regular copy of the store; NULL: none, STATE is
                             a database */
    int64_t snapshot_interval_ms; /* 0: no regular copy */
};

/* True if there is a Broker section. Complaints: no LISTEN, KEY or STATE, a member
 * twice, an unknown role, no KEY_FILE, an HTTP that is no ADDRESS:PORT, a SNAPSHOT over
 * STATE. */
bool broker_config_read(struct conf *conf, struct broker_setup *setup);
/* For a simulation, which has no connections and no disk: LISTEN, KEY, STATE and
 * KEY_FILE are not needed. */
bool broker_config_read_simulated(struct conf *conf, struct broker_setup *setup);

#endif
