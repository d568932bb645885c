/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: sublet-host, one per machine of a site: its options, and its parts in order.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/guard_client.h"
#include "host/agent/host_agent.h"
#include "host/agent/host_runs.h"
#include "host/agent/host_spool.h"
#include "host/kernel/kernel.h"
#include "host/load/load.h"
#include "sys/daemon.h"
#include "sys/log.h"
#include "sys/wire/wire.h"

enum {
    EXIT_USAGE = 2,
    EXIT_IN_USE = 75, /* EX_TEMPFAIL: another sublet-host uses the spool */
    LOOK_MS = 500,    /* why the site cannot be reached */
    GRACE_MS = 5000,  /* between the signals that terminate a job */
};

struct options {
    const char *name, *site, *key, *site_key, *spool;
    long parent; /* 0: none */
    bool without_cgroups;
    struct load_setting load;
};

struct parts {
    zloop_t *loop;
    struct host_spool spool;
    struct wire_client *client;
    struct load *load;
    char boot_id[40];
    struct host_agent *agent;
    struct host_runs *runs;
    char guard[4096];
    struct cgroup_root cgroup;
    char default_spool[256];
};

static const char usage[] =
    "usage: sublet-host -n NAME --site URL [--key FILE --site-key FILE]\n"
    "                   [--spool DIRECTORY] [--elim FILE]... [--no-cgroups]\n"
    "                   [--with-parent PID]\n"
    "       sublet-host --version\n"
    "\n"
    "  -n, --name NAME     this host, as the site's configuration calls it\n"
    "  --site URL          where its sublet-site listens (ipc:// or tcp://)\n"
    "  --key FILE          this host's secret key, for tcp\n"
    "  --site-key FILE     the site's public key, for tcp\n"
    "  --spool DIRECTORY   records of runs; default /var/lib/sublet/hosts/NAME\n"
    "  --elim FILE         a program that measures more than Sublet does\n"
    "  --no-cgroups        track jobs by their session only\n"
    "  --with-parent PID   end when this process, which started it, ends\n"
    "\n"
    "LSF_LOCAL_RESOURCES in the environment says what else this host has, as\n"
    "\"[resource linux] [!bigmem] [resourcemap 2*verilog] [type X86_64]\".\n";

static int fail(int status, const struct err *err)
{
    fprintf(stderr, "sublet-host: %s\n", err->text);
    return status;
}

/* Returns 0 to continue, else the exit status, negated if that is 0. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {
        {"name", required_argument, NULL, 'n'},
        {"site", required_argument, NULL, 's'},
        {"key", required_argument, NULL, 'k'},
        {"site-key", required_argument, NULL, 'K'},
        {"spool", required_argument, NULL, 'd'},
        {"elim", required_argument, NULL, 'e'},
        {"no-cgroups", no_argument, NULL, 'C'},
        {"with-parent", required_argument, NULL, 'P'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int letter;
    while ((letter = getopt_long(argc, argv, "n:h", names, NULL)) != -1) {
        switch (letter) {
        case 'n':
            options->name = optarg;
            break;
        case 's':
            options->site = optarg;
            break;
        case 'k':
            options->key = optarg;
            break;
        case 'K':
            options->site_key = optarg;
            break;
        case 'd':
            options->spool = optarg;
            break;
        case 'e':
            if (options->load.n_elims == LOAD_ELIMS_MAX) {
                fprintf(stderr, "sublet-host: --elim: at most %d\n", LOAD_ELIMS_MAX);
                return EXIT_USAGE;
            }
            options->load.elims[options->load.n_elims++] = optarg;
            break;
        case 'C':
            options->without_cgroups = true;
            break;
        case 'P':
            options->parent = strtol(optarg, NULL, 10);
            break;
        case 'V':
            printf("sublet-host %s\n", SUBLET_VERSION);
            return -1;
        case 'h':
            fputs(usage, stdout);
            return -1;
        default:
            fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    bool is_tcp = options->site != NULL && strncmp(options->site, "tcp://", 6) == 0;
    bool has_keys = options->key != NULL && options->site_key != NULL;
    if (options->name == NULL || options->name[0] == '\0' ||
        strlen(options->name) >= HOST_NAME_SIZE || options->site == NULL ||
        optind < argc || is_tcp != has_keys) {
        fputs(is_tcp && !has_keys ? "sublet-host: tcp needs --key and --site-key\n"
                                  : usage,
              stderr);
        return EXIT_USAGE;
    }
    return 0;
}

/* Without its site an agent would run on and keep the spool from the next one. Returns
 * false if the parent was gone before the kernel could be asked. */
static bool end_with_parent(long parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && (long)getppid() == parent;
}

/* Guards get descriptors 0 to 3: our own must not have these numbers. */
static void fill_standard_files(void)
{
    int file;
    do {
        file = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0) {
        close(file);
    }
}

static int on_signal(int signal, void *arg)
{
    struct parts *parts = arg;
    if (signal == SIGCHLD) {
        load_reap(parts->load);
        guard_client_reap();
    }
    return signal == SIGTERM || signal == SIGINT ? -1 : 0;
}

static const struct wire_words words = {
    .peer = "the site",
    .endpoint = "--site",
    .peer_key = "--site-key",
    .list = "this host's key file in HOST_KEYS of the site",
};

static int on_look(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop, (void)timer_id;
    (void)wire_client_report(arg, daemon_now_ms());
    return 0;
}

static int connect_site(struct parts *parts, const struct options *options,
                        struct err *err)
{
    struct wire_key key = {0};
    struct wire_key site_key = {0};
    int code = 0;
    if (options->key != NULL) {
        code = wire_key_load(options->key, &key, err);
        if (code == 0) {
            code = wire_key_load(options->site_key, &site_key, err);
        }
    }
    if (code == 0) {
        code = wire_client_new(options->site, options->key == NULL ? NULL : &key,
                               options->key == NULL ? NULL : site_key.public_z85,
                               &parts->client, err);
    }
    if (code == 0) {
        code = wire_client_explain(parts->client, &words, err);
    }
    explicit_bzero(&key, sizeof(key));
    return code;
}

static void find_cgroups(struct cgroup_root *cgroup)
{
    cgroup_root_find("/proc/self", cgroup);
    cgroup_root_sweep(cgroup);
    if (cgroup->path[0] == '\0') {
        log_line(LOG_LEVEL_NOTICE,
                 "no cgroups: jobs are tracked by their session only");
    }
    if (!cgroup->has_memory && cgroup->memory[0] == '\0') {
        log_line(LOG_LEVEL_NOTICE, "no memory controller: memory limits are checked "
                                   "every second (docs/operations.md)");
    }
}

static int find_private_view(const char *spool)
{
    char shared[128];
    int view = private_view_probe(spool);
    private_view_name_shared(view, shared, sizeof(shared));
    if (shared[0] != '\0') {
        log_line(LOG_LEVEL_NOTICE,
                 "leased jobs share %s with this machine (docs/operations.md)", shared);
    }
    return view;
}

static int make_runs(struct parts *parts, const struct options *options,
                     struct err *err)
{
    struct host_runs_setting setting = {
        .guard = parts->guard,
        .boot_id = parts->boot_id,
        .spec = {.cgroup = parts->cgroup.path,
                 .memory = parts->cgroup.memory,
                 .spool = parts->spool.path,
                 .wait_ms = EXEC_GO_WAIT_MS,
                 .grace_ms = GRACE_MS},
    };
    if (!options->without_cgroups) {
        find_cgroups(&parts->cgroup);
    }
    if (geteuid() == 0) {
        setting.spec.private_view = find_private_view(parts->spool.path);
    }
    return host_runs_new(parts->loop, &parts->spool, &setting,
                         host_agent_session(parts->agent),
                         host_agent_shell(parts->agent), &parts->runs, err);
}

static int open_spool(struct parts *parts, const struct options *options,
                      struct err *err)
{
    const char *path = options->spool;
    if (path == NULL) {
        snprintf(parts->default_spool, sizeof(parts->default_spool),
                 "/var/lib/sublet/hosts/%s", options->name);
        path = parts->default_spool;
    }
    return host_spool_open(&parts->spool, path, err);
}

static int make_parts(struct parts *parts, const struct options *options,
                      struct err *err)
{
    int code = open_spool(parts, options, err);
    if (code == 0) {
        code = guard_client_find_program(parts->guard, sizeof(parts->guard), err);
    }
    if (code == 0) {
        code = connect_site(parts, options, err);
    }
    if (code != 0) {
        return code;
    }
    parts->loop = zloop_new();
    boot_id_read(parts->boot_id, sizeof(parts->boot_id));
    code = load_new(parts->loop, &options->load, &parts->load, err);
    if (code != 0) {
        return code;
    }
    parts->agent = host_agent_new(parts->loop, options->name, parts->boot_id,
                                  &parts->spool, parts->load, parts->client);
    code = make_runs(parts, options, err);
    if (code == 0) {
        code = daemon_watch_signals(parts->loop, on_signal, parts, err);
    }
    if (code == 0) {
        zloop_timer(parts->loop, LOOK_MS, 0, on_look, parts->client);
    }
    if (code == 0) {
        code = load_start(parts->load, err);
    }
    if (code == 0) {
        host_runs_load(parts->runs);
        code = host_agent_start(parts->agent, parts->runs, err);
    }
    return code;
}

static void free_parts(struct parts *parts)
{
    host_runs_free(parts->runs);
    host_agent_free(parts->agent);
    load_free(parts->load);
    if (parts->loop != NULL) {
        zloop_destroy(&parts->loop);
    }
    wire_client_free(parts->client);
    host_spool_close(&parts->spool);
}

int main(int argc, char **argv)
{
    struct options options = {
        .load = {.local_resources = getenv("LSF_LOCAL_RESOURCES")},
    };
    int status = read_options(argc, argv, &options);
    if (status != 0) {
        return status < 0 ? 0 : status;
    }
    fill_standard_files();
    daemon_block_signals();
    if (options.parent != 0 && !end_with_parent(options.parent)) {
        return EXIT_FAILURE;
    }
    if (options.parent != 0) {
        unsetenv("NOTIFY_SOCKET"); /* systemd hears of the parent, not of this */
    }
    log_init("sublet-host");
    umask(0);
    struct parts parts = {.spool = {.lock = -1, .runs = -1, .trash = -1}};
    struct err err = {0};
    int code = make_parts(&parts, &options, &err);
    if (code == 0) {
        daemon_ready();
        zloop_start(parts.loop);
        daemon_stopping();
        log_line(LOG_LEVEL_INFO, "ends; jobs keep running");
    } else {
        status = fail(code == ERR_EXISTS ? EXIT_IN_USE : EXIT_FAILURE, &err);
    }
    free_parts(&parts);
    zsys_shutdown();
    return status;
}
