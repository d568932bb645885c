/* SPDX-License-Identifier: Apache-2.0 */
/* reload.c: see reload.h. */
#include "broker/io/reload.h"

#include <stdlib.h>
#include <string.h>

#include "sys/daemon.h"
#include "sys/log.h"

struct reload {
    char *const *paths;
    int n_paths;
    const struct broker_setup *setup; /* that the broker was started with */
    struct hub *hub;
    struct http_access **access;
};

static int check_fixed(const struct broker_setup *now,
                       const struct broker_setup *wanted, struct err *err)
{
    const struct daemon_conf_fixed keys[] = {
        {"LISTEN", now->listen, wanted->listen},
        {"KEY", now->key, wanted->key},
        {"STATE", now->state, wanted->state},
        {"HTTP", now->http_host, wanted->http_host},
        {"HTTP", now->http_port, wanted->http_port},
        {"SNAPSHOT", now->snapshot, wanted->snapshot},
    };
    return daemon_conf_check_fixed("Broker", keys, sizeof(keys) / sizeof(keys[0]), err);
}

static int judge(struct conf *conf, struct broker_setup *setup, struct err *err)
{
    conf_check(conf);
    bool has_broker = broker_config_read(conf, setup);
    daemon_conf_print_diags(conf, stderr);
    if (conf->n_errors > 0) {
        return daemon_conf_first_error(conf, err);
    }
    return has_broker ? 0
                      : err_set(err, ERR_PARSE,
                                "no Broker section in the files that were read");
}

static int run(void *arg, const char *who, struct arena *arena, const char **text,
               struct err *err)
{
    struct reload *reload = arg;
    struct broker_setup setup = {0};
    struct http_access *fresh = NULL;
    struct conf conf;
    struct arena memory; /* all that the broker keeps of it is copied */
    arena_init(&memory);
    conf_init(&conf, &memory);
    daemon_conf_read(&conf, reload->paths, reload->n_paths);
    int rc = judge(&conf, &setup, err);
    if (rc == 0) {
        rc = check_fixed(reload->setup, &setup, err);
    }
    if (rc == 0) {
        rc = http_access_load(&setup, &fresh, err);
    }
    if (rc == 0) {
        rc = hub_reload(reload->hub, &setup, who, err);
    }
    if (rc == 0) {
        struct http_access *old = *reload->access;
        *reload->access = fresh;
        fresh = old;
        *text = arena_printf(arena, "The configuration was reloaded; warnings: %d.",
                             conf.n_warnings);
        log_line(LOG_LEVEL_NOTICE, "%s", *text);
    }
    http_access_free(fresh);
    arena_release(&memory);
    return rc == 0 ? 0 : err_prefix(err, "nothing is changed");
}

struct reload *reload_new(char *const *paths, int n_paths,
                          const struct broker_setup *setup, struct hub *hub,
                          struct http_access **access)
{
    struct reload *reload = mem_alloc(1, sizeof(*reload));
    *reload = (struct reload){paths, n_paths, setup, hub, access};
    shell_set_reload(hub_shell(hub), run, reload);
    return reload;
}

void reload_free(struct reload *reload)
{
    free(reload);
}

void reload_by_signal(struct reload *reload)
{
    struct arena arena;
    struct err err = {0};
    const char *text;
    arena_init(&arena);
    if (shell_reload(hub_shell(reload->hub), "a signal", &arena, &text, &err) < 0) {
        log_line(LOG_LEVEL_ERROR, "reload: %s", err.text);
    }
    arena_release(&arena);
}
