/* SPDX-License-Identifier: Apache-2.0 */
/* broker_config.h: the Broker and Member sections, judged and turned into a
 * configuration, with the pools of the same files (plan_config.h).
 *
 * Errors become diagnostics of `conf`. Ownership: all in conf's arena.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_BROKER_CONFIG_H
#define SUBLET_BROKER_BROKER_CONFIG_H

#include "base/conf.h"
#include "broker/broker.h"

/* What only the shell needs stands beside what the step machine gets. */
struct broker_setup {
    struct broker_config config;
    const char *listen, *state, *key;
    const char **key_files; /* of each member, same order */
    const char *http_host;  /* NULL: no HTTP; "*": all addresses */
    const char *http_port;
    const char *tokens; /* NULL: nobody changes anything over HTTP */
    int64_t sample_interval_ms;
    const char *snapshot;         /* where the regular one goes */
    int64_t snapshot_interval_ms; /* 0: there is none */
};

/* True where there is a Broker section. Complaints: no LISTEN, KEY or STATE, a member
 * twice, an unknown role, no KEY_FILE, an HTTP that is no ADDRESS:PORT, a SNAPSHOT over
 * STATE. */
bool broker_config_read(struct conf *conf, struct broker_setup *setup);
/* For a simulation: nothing is connected or kept, so that no LISTEN, KEY, STATE or
 * KEY_FILE is needed. */
bool broker_config_read_simulated(struct conf *conf, struct broker_setup *setup);

#endif
