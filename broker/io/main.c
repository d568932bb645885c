/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: sublet-broker: makes the parts in order, runs the loop, frees in reverse.
 * Layer: broker/io. */
#include <czmq.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/broker_config.h"
#include "broker/io/bookkeeper.h"
#include "broker/io/door.h"
#include "broker/io/hub.h"
#include "broker/io/reload.h"
#include "broker/io/sampler.h"
#include "broker/io/snapshot.h"
#include "broker/io/standby.h"
#include "broker/io/store/store.h"
#include "broker/io/store/store_lead.h"
#include "broker/io/store/store_transfer.h"
#include "broker/io/web.h"
#include "sys/daemon.h"
#include "sys/log.h"

static const char usage_text[] =
    "usage: sublet-broker PATH...\n"
    "\n"
    "Keeps the contracts of a federation. PATH: configuration files, or directories "
    "of\n"
    "them (*.conf, lsb.*, lsf.*), with a Broker section and its Members.\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "  --accept-loss  starts although the store has lost changes, and ends the alarm\n"
    "                 about changes that sites know to be lost\n"
    "\n"
    "sublet-broker copy-store FROM TO copies all contracts and their history from a\n"
    "SQLite file into a database of PostgreSQL (postgresql://...), or back, and then\n"
    "compares all rows. No broker may run.\n"
    "\n"
    "Runs in the foreground, logs to standard error, says \"ready\" there when it\n"
    "serves. SIGTERM ends it.\n";

/* The reload is NULL while the broker waits. */
static int on_signal(int number, void *arg)
{
    struct reload **reload = arg;
    switch (number) {
    case SIGTERM:
    case SIGINT:
        return -1;
    case SIGHUP:
        if (*reload != NULL) {
            reload_by_signal(*reload);
        }
        return 0;
    default:
        return 0;
    }
}

static void load_row(void *arg, const struct row *row)
{
    broker_load(arg, row);
}

/* A copy of a store that is missing or empty says that there was one. */
static int check_copy(const struct broker_setup *setup, bool accepts_loss,
                      struct err *err)
{
    struct stat store, copy;
    bool is_empty = stat(setup->state, &store) < 0 || store.st_size == 0;
    if (!is_empty || setup->snapshot == NULL || stat(setup->snapshot, &copy) < 0) {
        return 0;
    }
    err_set(err, ERR_IO,
            "\"%s\" is missing or empty, but \"%s\", a copy of it, is there: put the "
            "copy in its place, or start once with --accept-loss",
            setup->state, setup->snapshot);
    if (accepts_loss) {
        log_line(LOG_LEVEL_WARNING, "%s: accepted", err->text);
        return 0;
    }
    return err->code;
}

/* Opens the store and the door, and waits until this broker leads. 1: it does; 0: it is
 * to end. */
static int lead(zloop_t *loop, const struct broker_setup *setup, bool accepts_loss,
                char **argv, struct store **store, struct door **door, struct err *err)
{
    int rc = standby_open(loop, setup->state, accepts_loss, store, err);
    if (rc > 0 && door_new(loop, setup, door, err) < 0) {
        rc = err->code;
    }
    return rc > 0 ? standby_wait(loop, setup, *store, *door, argv, err) : rc;
}

static int serve(char **argv, char *const *paths, int n_paths, bool accepts_loss,
                 const struct broker_setup *setup)
{
    struct err err = {0};
    struct store *store = NULL;
    struct broker *broker = NULL;
    struct snapshot *snapshot = NULL;
    struct door *door = NULL;
    struct hub *hub = NULL;
    struct sampler *sampler = NULL;
    struct bookkeeper *keeper = NULL;
    struct web *web = NULL;
    struct reload *reload = NULL;
    bool steps_down = false;
    zloop_t *loop = zloop_new();
    /* Sites may stand below it; the store's own files are the broker's alone. */
    int rc =
        setup->is_state_file ? daemon_make_directory_of(setup->state, 0711, &err) : 0;
    if (rc == 0) {
        rc = setup->is_state_file ? check_copy(setup, accepts_loss, &err) : 0;
    }
    if (rc == 0) {
        rc = daemon_watch_signals(loop, on_signal, &reload, &err);
    }
    if (rc == 0) {
        rc = lead(loop, setup, accepts_loss, argv, &store, &door, &err);
    }
    if (rc <= 0) {
        goto out;
    }
    broker = broker_new(&setup->config);
    if (accepts_loss) {
        broker_loss_accept(broker);
    }
    rc = store_load(store, load_row, broker, &err);
    if (rc == 0) {
        rc = bookkeeper_new(loop, broker, store, setup->ledger_bytes, &keeper, &err);
    }
    if (rc == 0) {
        hub = hub_new(loop, door, broker, store);
        snapshot = snapshot_new(loop, setup, broker, store);
        hub_set_snapshot(hub, snapshot);
        sampler = sampler_new(loop, broker, store, setup->sample_interval_ms);
        rc = web_new(loop, setup, broker, store, hub, &web, &err);
    }
    if (rc == 0) {
        reload = reload_new(paths, n_paths, setup, hub, web_access(web));
    }
    if (rc < 0) {
        goto out;
    }
    hub_start(hub);
    daemon_ready();
    daemon_run(loop);
    steps_down = hub_steps_down(hub);
    if (!steps_down) {
        daemon_stopping();
    }
    store_lead_leave(store, steps_down);
out:
    if (rc < 0) {
        log_line(LOG_LEVEL_ERROR, "cannot start: %s", err.text);
    }
    web_free(web);
    sampler_free(sampler);
    bookkeeper_free(keeper);
    reload_free(reload);
    hub_free(hub);
    door_free(door);
    snapshot_free(snapshot);
    broker_free(broker);
    store_close(store);
    zloop_destroy(&loop);
    if (steps_down) {
        standby_begin_anew(argv);
    }
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Reads and checks the configuration, and serves if nothing is wrong. */
static int configure_and_serve(char **argv, char *const *paths, int n_paths,
                               bool accepts_loss)
{
    struct arena arena;
    struct conf conf;
    struct broker_setup setup = {0};
    arena_init(&arena);
    conf_init(&conf, &arena);
    daemon_conf_read(&conf, paths, n_paths);
    conf_check(&conf);
    bool has_broker = broker_config_read(&conf, &setup);
    daemon_conf_print_diags(&conf, stderr);
    int status = EXIT_FAILURE;
    if (conf.n_errors > 0) {
        log_line(LOG_LEVEL_ERROR, "cannot start: the configuration has errors (%d)",
                 conf.n_errors);
    } else if (!has_broker) {
        log_line(LOG_LEVEL_ERROR,
                 "cannot start: no Broker section in the files that were read");
    } else {
        status = serve(argv, paths, n_paths, accepts_loss, &setup);
    }
    arena_release(&arena);
    return status;
}

static int copy_store(const char *from, const char *to)
{
    struct arena arena;
    struct err err;
    const char *sentence;
    arena_init(&arena);
    int rc = store_transfer_run(from, to, &arena, &sentence, &err);
    if (rc < 0) {
        log_line(LOG_LEVEL_ERROR, "copy-store: %s", err.text);
    } else {
        printf("%s\n", sentence);
    }
    arena_release(&arena);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    daemon_block_signals();
    umask(022); /* so that directories have the modes that the code gives them */
    daemon_raise_files();
    log_init("sublet-broker");
    if (argc == 4 && strcmp(argv[1], "copy-store") == 0) {
        return copy_store(argv[2], argv[3]);
    }
    bool accepts_loss;
    int first =
        daemon_read_options(argc, argv, "sublet-broker", usage_text, &accepts_loss);
    return configure_and_serve(argv, argv + first, argc - first, accepts_loss);
}
