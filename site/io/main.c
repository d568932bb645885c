/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: sublet-site: makes the parts in order, runs the loop, frees in reverse.
 * Layer: site/io. */
#include <czmq.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/conf/conf.h"
#include "site/config/site_config.h"
#include "site/io/children.h"
#include "site/io/egroup.h"
#include "site/io/history_answer.h"
#include "site/io/hosts.h"
#include "site/io/journal.h"
#include "site/io/ledger_answer.h"
#include "site/io/output.h"
#include "site/io/site_http.h"
#include "site/io/slurm_guests.h"
#include "site/io/slurm_link.h"
#include "site/io/spool_witness.h"
#include "site/io/uplink.h"
#include "site/io/usage_answer.h"
#include "site/io/usage_store.h"
#include "site/io/usage_watch.h"
#include "site/site.h"
#include "slurm/io/slurm_config.h"
#include "sys/accounts.h"
#include "sys/daemon.h"
#include "sys/db/db.h"
#include "sys/local/local.h"
#include "sys/log.h"
#include "sys/shell.h"

static const char usage_text[] =
    "usage: sublet-site PATH...\n"
    "\n"
    "One site: its queues and jobs, what it lends and borrows. PATH: configuration\n"
    "files, or directories of them (*.conf, lsb.*, lsf.*), with a Site section, its\n"
    "Hosts and its Queues.\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "  --accept-loss  starts although the journal has lost changes\n"
    "\n"
    "Runs in the foreground, logs to standard error, says \"ready\" there when it\n"
    "serves. SIGTERM ends it; jobs keep running.\n";

#define MINUTE_MS INT64_C(60000)
#define MIB (INT64_C(1) << 20)

/* A configuration as it was read. */
struct loaded {
    struct arena arena;
    struct conf conf;
    struct site_setup setup;
    struct egroup_list egroups;
};

/* All that a running site is made of, in the order in which it is made. */
struct parts {
    bool accepts_loss;  /* --accept-loss */
    char *const *paths; /* of the configuration */
    int n_paths;
    struct loaded *loaded; /* the one in force */
    zloop_t *loop;
    struct journal *journal;
    struct usage_store *usage;
    struct usage_watch *usage_watch;
    struct usage_answer *answers;
    struct db_batch batch; /* rows of one batch into the journal */
    struct site *site;
    struct shell *shell;
    struct hosts *hosts;      /* or the nodes of Slurm: */
    struct slurm_link *slurm; /* one of the two is NULL */
    struct local_server *clients;
    struct uplink *uplink;
    struct children *children;
    struct site_http *http;
    struct slurm_guests *guests; /* NULL: no host becomes a node of Slurm */
    struct egroup *egroup;
};

/* ---------------------------------------------------------------- configuration */

static void unload(struct loaded *loaded)
{
    arena_release(&loaded->arena);
    free(loaded);
}

static int judge(struct loaded *loaded, struct err *err)
{
    conf_check(&loaded->conf);
    egroup_fill(&loaded->conf, &loaded->egroups);
    bool has_site = site_config_read(&loaded->conf, &loaded->setup);
    if (has_site) {
        struct site_config *config = &loaded->setup.config;
        struct site_machine machine = {
            .uid = accounts_own_uid(),
            .user = accounts_own_name(&loaded->arena),
            .lease_user_uid = accounts_find(config->lease_account),
            .uids_taken = accounts_meet(config->lease_uids.first,
                                        config->lease_uids.last, &loaded->arena),
        };
        lease_user_judge(&loaded->conf, &machine, config);
    }
    daemon_conf_print_diags(&loaded->conf, stderr);
    if (loaded->conf.n_errors > 0) {
        return daemon_conf_first_error(&loaded->conf, err);
    }
    return has_site
               ? 0
               : err_set(err, ERR_PARSE, "no Site section in the files that were read");
}

/* Reads and checks a configuration. NULL and an error if something is wrong. */
static struct loaded *load(char *const *paths, int n_paths, enum slurm_config_use use,
                           struct err *err)
{
    struct loaded *loaded = mem_alloc(1, sizeof(*loaded));
    arena_init(&loaded->arena);
    conf_init(&loaded->conf, &loaded->arena);
    daemon_conf_read(&loaded->conf, paths, n_paths);
    slurm_config_complete(&loaded->conf, use);
    if (judge(loaded, err) < 0) {
        unload(loaded);
        return NULL;
    }
    return loaded;
}

/* ---------------------------------------------------------------- reload */

/* What connections and files stand on is read at the start only. */
static int check_fixed(const struct site_setup *now, const struct site_setup *wanted,
                       struct err *err)
{
    const struct daemon_conf_fixed keys[] = {
        {"BROKER", now->broker, wanted->broker},
        {"KEY", now->key, wanted->key},
        {"BROKER_KEY", now->broker_key, wanted->broker_key},
        {"SPOOL", now->spool, wanted->spool},
        {"LISTEN", now->listen, wanted->listen},
        {"SOCKET", now->socket, wanted->socket},
        {"SCHEDULER", now->config.is_slurm ? "slurm" : "builtin",
         wanted->config.is_slurm ? "slurm" : "builtin"},
        {"SLURM_CONF", now->slurm.conf, wanted->slurm.conf},
        {"SLURM_BIN", now->slurm.bin, wanted->slurm.bin},
        {"SLURM_PARTITION", now->slurm.partition, wanted->slurm.partition},
        {"SLURM_ACCOUNT", now->slurm.account, wanted->slurm.account},
        {"SLURM_SPOOL", now->slurm.spool, wanted->slurm.spool},
        {"SLURM_BORROW_PARTITION", now->slurm_borrow.partition,
         wanted->slurm_borrow.partition},
    };
    int rc = daemon_conf_check_fixed("Site", keys, sizeof(keys) / sizeof(keys[0]), err);
    return rc < 0 ? err_set(err, rc, "%s; nothing is changed", err->text) : 0;
}

static bool is_needed(void *site, const char *host)
{
    return site_has_host(site, host);
}

static bool is_leaving(void *site, const char *host)
{
    return site_has_leaving(site, host);
}

/* Everything is judged before anything is changed. */
static int reload(void *arg, const char *who, struct arena *arena, const char **text,
                  struct err *err)
{
    (void)who;
    struct parts *parts = arg;
    struct loaded *loaded =
        load(parts->paths, parts->n_paths, SLURM_CONFIG_RELOAD, err);
    if (loaded == NULL) {
        return err_prefix(err, "nothing is changed");
    }
    const struct site_setup *setup = &loaded->setup;
    int rc = site_reload_check(parts->site, &setup->config, err);
    if (rc == 0) {
        rc = check_fixed(&parts->loaded->setup, setup, err);
    }
    if (rc == 0 && parts->hosts != NULL && hosts_reload(parts->hosts, setup, err) < 0) {
        rc = err_prefix(err, "nothing is changed");
    }
    if (rc < 0) {
        unload(loaded);
        return rc;
    }
    site_reload(parts->site, &setup->config, daemon_now_ms(),
                shell_effects(parts->shell));
    if (parts->slurm != NULL) {
        slurm_link_change(parts->slurm, setup);
    }
    children_change(parts->children, setup);
    slurm_guests_reload(parts->guests, setup);
    usage_store_resize(parts->usage, setup->config.ledger_mib * MIB);
    *text = arena_printf(arena, "The configuration was reloaded; warnings: %d.",
                         loaded->conf.n_warnings);
    egroup_change(parts->egroup, &loaded->egroups);
    unload(parts->loaded);
    parts->loaded = loaded;
    return 0;
}

static void reload_by_signal(struct parts *parts)
{
    struct arena arena;
    const char *text;
    struct err err = {0};
    arena_init(&arena);
    if (shell_reload(parts->shell, "a signal", &arena, &text, &err) < 0) {
        log_line(LOG_LEVEL_ERROR, "reload: %s", err.text);
    }
    arena_release(&arena);
}

static int on_minute(zloop_t *loop, int timer, void *arg);

/* Conditions of the files (#if) may change with each minute of the clock. */
static void await_minute(struct parts *parts)
{
    struct conf_clock clock = daemon_conf_clock();
    int64_t rest_ms = MINUTE_MS - clock.local_ms % MINUTE_MS;
    zloop_timer(parts->loop, (size_t)rest_ms + 1, 1, on_minute, parts);
}

static int on_minute(zloop_t *loop, int timer, void *arg)
{
    struct parts *parts = arg;
    struct conf_clock clock = daemon_conf_clock();
    (void)loop;
    (void)timer;
    if (conf_if_has_changed(&parts->loaded->conf, &clock)) {
        log_line(
            LOG_LEVEL_NOTICE,
            "a time window of #if has begun or ended: the configuration is reloaded");
        reload_by_signal(parts);
    }
    await_minute(parts);
    return 0;
}

static int on_signal(int number, void *arg)
{
    struct parts *parts = arg;
    switch (number) {
    case SIGTERM:
    case SIGINT:
        return -1;
    case SIGHUP:
        reload_by_signal(parts);
        return 0;
    case SIGCHLD:
        children_reap(parts->children);
        return 0;
    default:
        return 0;
    }
}

static void load_row(void *arg, const struct row *row)
{
    struct parts *parts = arg;
    site_load(parts->site, row);
    usage_store_row(parts->usage, row, daemon_now_ms());
}

/* The spool may be looked through, by jobs' users on the way to their own; the journal
 * is the daemon's alone. */
static int open_journal(const char *spool, bool accepts_loss, struct journal **journal,
                        struct err *err)
{
    static const char name[] = "/journal.db";
    if (daemon_make_directory(spool, 0711, err) < 0) {
        return err->code;
    }
    struct err cause;
    if (geteuid() == 0 && daemon_check_reach(spool, &cause) < 0) {
        log_line(LOG_LEVEL_WARNING, "SPOOL: %s", cause.text);
    }
    size_t size = strlen(spool) + sizeof(name);
    char *path = mem_alloc(size, 1);
    snprintf(path, size, "%s%s", spool, name);
    mode_t own_umask = umask(0177);
    int rc = spool_witness_check(spool, path, accepts_loss, err);
    if (rc == 0) {
        rc = journal_open(path, accepts_loss, journal, err);
    }
    umask(own_umask);
    free(path);
    return rc;
}

static void end_batch(void *shell)
{
    shell_run_batch(shell);
}

static int send_to_client(void *arg, const struct peer *to, const struct msg *msg,
                          struct err *err)
{
    const struct parts *parts = arg;
    return slurm_guests_take(parts->guests, to, msg)
               ? 0
               : local_server_send(parts->clients, to, msg, err);
}

static bool is_admin(void *site, const struct peer *from)
{
    return site_is_admin(site, from);
}

/* The socket of the command line. Only a daemon that runs the jobs of all users lets
 * other users connect. */
static int open_socket(struct parts *parts, const char *path, struct err *err)
{
    struct local_handler handler = {
        .message = shell_take_message,
        .gone = shell_take_gone,
        .end = end_batch,
        .arg = parts->shell,
        .is_privileged = is_admin,
        .judge = parts->site,
    };
    int mode = geteuid() == 0 ? 0666 : 0600;
    int rc = daemon_make_directory_of(path, 0755, err);
    if (rc == 0) {
        rc = local_server_new(parts->loop, path, mode, &handler, &parts->clients, err);
    }
    if (rc == 0) {
        shell_route(parts->shell, PEER_CLIENT, send_to_client, parts);
    }
    return rc;
}

/* ---------------------------------------------------------------- the machine */

static void step(void *site, const struct event *event, struct effects *effects)
{
    site_step(site, event, effects);
}

static int64_t wake_ms(const void *site)
{
    return site_wake_ms(site);
}

static int write_row(void *arg, const struct row *row, struct err *err)
{
    struct parts *parts = arg;
    usage_store_row(parts->usage, row, daemon_now_ms());
    return journal_write(parts->journal, row, err);
}

static int finish_batch(void *arg, struct err *err)
{
    const struct parts *parts = arg;
    usage_watch_contracts(parts->usage_watch, daemon_now_ms());
    return usage_store_write(parts->usage, err);
}

static void note_committed(void *arg)
{
    const struct parts *parts = arg;
    usage_store_committed(parts->usage);
}

static void write_output(void *site, struct effect *effect, struct effects *more)
{
    struct event event = {.kind = EVENT_WRITTEN, .now_ms = daemon_now_ms()};
    event.written.job = effect->write.job;
    event.written.error = output_write(effect);
    site_step(site, &event, more);
}

static void answer_from_journal(void *arg, struct effect *ask, struct effects *more)
{
    const struct parts *parts = arg;
    if (ask->history.query.kind == QUERY_USAGE) {
        usage_answer_ask(parts->answers, ask, daemon_now_ms(), more);
    } else if (ask->history.query.kind == QUERY_LEDGER) {
        ledger_answer(parts->usage, ask, daemon_now_ms(), more);
    } else {
        history_answer(parts->journal, ask, more);
    }
}

static void make_shell(struct parts *parts)
{
    parts->batch = (struct db_batch){.db = journal_db(parts->journal),
                                     .store = parts,
                                     .write = write_row,
                                     .finish = finish_batch,
                                     .committed = note_committed};
    const struct shell_machine machine = {.machine = parts->site,
                                          .step = step,
                                          .wake_ms = wake_ms,
                                          .commit = db_batch_commit,
                                          .maintain = db_batch_maintain,
                                          .store = &parts->batch};
    parts->shell = shell_new(parts->loop, &machine);
    shell_handle(parts->shell, EFFECT_WRITE, write_output, parts->site);
    shell_handle(parts->shell, EFFECT_HISTORY, answer_from_journal, parts);
    shell_set_reload(parts->shell, reload, parts);
}

static void reload_again(void *parts)
{
    reload_by_signal(parts);
}

/* What runs the jobs: sublet-hosts that connect, or Slurm. */
static int make_hosts(struct parts *parts, const struct site_setup *setup,
                      struct err *err)
{
    const struct slurm_link_parts link = {.loop = parts->loop,
                                          .shell = parts->shell,
                                          .site = parts->site,
                                          .reload = reload_again,
                                          .arg = parts};
    return setup->config.is_slurm
               ? slurm_link_new(&link, setup, &parts->slurm, err)
               : hosts_new(parts->loop, parts->shell, setup, &parts->hosts, err);
}

static int make_parts(struct parts *parts, const struct site_setup *setup,
                      struct err *err)
{
    parts->loop = zloop_new();
    int rc = open_journal(setup->spool, parts->accepts_loss, &parts->journal, err);
    if (rc < 0) {
        return rc;
    }
    parts->site = site_new(&setup->config);
    parts->usage = usage_store_new(parts->journal, setup->config.ledger_mib * MIB);
    rc = journal_load(parts->journal, load_row, parts, err);
    if (rc == 0) {
        rc = usage_store_start(parts->usage, daemon_now_ms(), err);
    }
    if (rc < 0) {
        return rc;
    }
    make_shell(parts);
    rc = make_hosts(parts, setup, err);
    if (rc == 0) {
        rc = open_socket(parts, setup->socket, err);
    }
    if (rc == 0 && setup->broker != NULL) {
        rc = uplink_new(parts->loop, parts->shell, setup, parts->site, &parts->uplink,
                        err);
    }
    if (rc == 0) {
        rc = children_new(parts->loop, setup, &parts->children, err);
    }
    if (rc == 0 && setup->http_host != NULL) {
        rc = site_http_new(parts->loop, setup, parts->site, parts->shell, parts->usage,
                           &parts->http, err);
    }
    parts->answers = usage_answer_new(parts->loop, parts->shell, parts->usage);
    parts->usage_watch = usage_watch_new(parts->loop, parts->site, parts->usage);
    if (rc == 0) {
        rc = daemon_watch_signals(parts->loop, on_signal, parts, err);
        await_minute(parts);
    }
    return rc;
}

static void free_parts(struct parts *parts)
{
    egroup_free(parts->egroup);
    slurm_guests_free(parts->guests);
    site_http_free(parts->http);
    children_free(parts->children);
    uplink_free(parts->uplink);
    local_server_free(parts->clients);
    hosts_free(parts->hosts);
    slurm_link_free(parts->slurm);
    usage_answer_free(parts->answers);
    shell_free(parts->shell);
    usage_watch_free(parts->usage_watch);
    usage_store_free(parts->usage);
    site_free(parts->site);
    journal_close(parts->journal);
    zloop_destroy(&parts->loop);
}

static int serve(struct parts *parts)
{
    struct err err = {0};
    int rc = make_parts(parts, &parts->loaded->setup, &err);
    if (rc < 0) {
        log_line(LOG_LEVEL_ERROR, "cannot start: %s", err.text);
    } else {
        site_start(parts->site, daemon_now_ms(), shell_effects(parts->shell));
        shell_run_batch(parts->shell);
        daemon_ready(); /* before the children, which also report that they are ready */
        parts->guests = slurm_guests_new(parts->loop, &parts->loaded->setup,
                                         parts->site, parts->shell);
        children_start(parts->children,
                       &(struct children_site){is_needed, is_leaving, parts->site});
        parts->egroup =
            egroup_new(parts->loop, parts->loaded->setup.spool, reload_again, parts);
        egroup_change(parts->egroup, &parts->loaded->egroups);
        daemon_run(parts->loop);
        daemon_stopping();
    }
    free_parts(parts);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Serves if the configuration is correct. */
static int configure_and_serve(char *const *paths, int n_paths, bool accepts_loss)
{
    struct err err;
    struct loaded *loaded = load(paths, n_paths, SLURM_CONFIG_START, &err);
    if (loaded == NULL) {
        log_line(LOG_LEVEL_ERROR, "cannot start: %s", err.text);
        return EXIT_FAILURE;
    }
    struct parts parts = {.accepts_loss = accepts_loss,
                          .paths = paths,
                          .n_paths = n_paths,
                          .loaded = loaded};
    int status = serve(&parts);
    unload(parts.loaded);
    return status;
}

int main(int argc, char **argv)
{
    daemon_block_signals();
    umask(022); /* so that directories have the modes that the code gives them */
    log_init("sublet-site");
    bool accepts_loss;
    int first =
        daemon_read_options(argc, argv, "sublet-site", usage_text, &accepts_loss);
    return configure_and_serve(argv + first, argc - first, accepts_loss);
}
