/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c: `sublet doctor`: what keeps the daemons of this machine from working, a
 * line for each check, with what to do. Changes nothing, but a file that it removes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/conf/conf.h"
#include "broker/broker_config.h"
#include "cli/commands.h"
#include "site/config/site_config.h"
#include "sys/daemon.h"
#include "sys/local/local.h"
#include "sys/wire/wire.h"

enum {
    CONNECT_MS = 8000,
    SYNC_SLOW_MS = 50,
    FREE_PERCENT = 5,
    FILES_MIN = 4096,
    NFS_MAGIC = 0x6969,
    SMB_MAGIC = 0x517b,
};
static const uint32_t cifs_magic = 0xff534d42;

struct doctor {
    int n_failed;
    struct arena *arena;
};

static void say(struct doctor *doctor, const char *word, const char *what,
                const char *text)
{
    doctor->n_failed += strcmp(word, "FAIL") == 0;
    printf("%-4s  %s%s%s\n", word, what, text[0] != '\0' ? ": " : "", text);
    fflush(stdout);
}

static void judge(struct doctor *doctor, int rc, const char *what,
                  const struct err *err)
{
    say(doctor, rc == 0 ? "ok" : "FAIL", what, rc == 0 ? "" : err->text);
}

/* ---------------------------------------------------------------- files */

/* A secret key must be its daemon's own; root reads all of them. */
static int check_owner(const char *path, const char *user, struct err *err)
{
    struct stat status;
    const struct passwd *account = user != NULL ? getpwnam(user) : NULL;
    if (account == NULL || stat(path, &status) != 0 ||
        status.st_uid == account->pw_uid) {
        return 0;
    }
    return err_set(err, ERR_DENIED,
                   "\"%s\" does not belong to %s, as which the service runs; run: "
                   "chown %s: %s",
                   path, user, user, path);
}

static bool load_key(struct doctor *doctor, const char *what, const char *path,
                     bool is_secret, const char *user, struct wire_key *key)
{
    struct err err;
    int rc = wire_key_load(path, key, &err);
    if (rc == 0 && is_secret && key->secret_z85[0] == '\0') {
        rc = err_set(&err, ERR_PARSE, "\"%s\" has only the public half", path);
    }
    if (rc == 0 && is_secret) {
        rc = check_owner(path, user, &err);
    }
    judge(doctor, rc, arena_printf(doctor->arena, "%s %s", what, path), &err);
    return rc == 0;
}

static int sync_file(const char *path, int64_t *took_ms, struct err *err)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return err_set(err, ERR_IO, "\"%s\": %s", path, strerror(errno));
    }
    int64_t begin_ms = daemon_now_ms();
    int rc =
        write(file, path, strlen(path)) < 0 || fsync(file) != 0
            ? err_set(err, ERR_IO, "\"%s\" cannot be synced: %s", path, strerror(errno))
            : 0;
    *took_ms = daemon_now_ms() - begin_ms;
    close(file);
    unlink(path);
    return rc;
}

static int check_disk(const char *directory, struct arena *arena, const char **note,
                      struct err *err)
{
    struct statfs kind;
    struct statvfs room;
    int64_t took_ms = 0;
    if (statfs(directory, &kind) != 0 || statvfs(directory, &room) != 0) {
        return err_set(err, ERR_IO, "\"%s\": %s; the daemon makes it when it starts",
                       directory, strerror(errno));
    }
    if (kind.f_type == NFS_MAGIC || kind.f_type == SMB_MAGIC ||
        (uint32_t)kind.f_type == cifs_magic) {
        return err_set(err, ERR_STATE,
                       "\"%s\" is on a network file system; use a local one",
                       directory);
    }
    if (room.f_blocks > 0 && room.f_bavail * 100 / room.f_blocks < FREE_PERCENT) {
        return err_set(err, ERR_FULL, "less than %d %% is free; free some space",
                       FREE_PERCENT);
    }
    int rc = sync_file(arena_printf(arena, "%s/.doctor-%ld", directory, (long)getpid()),
                       &took_ms, err);
    *note = arena_printf(arena, "a sync took %lld ms%s", (long long)took_ms,
                         took_ms > SYNC_SLOW_MS ? ", which slows every submission and "
                                                  "hand-over; look for other load"
                                                : "");
    return rc;
}

static void look_at_disk(struct doctor *doctor, const char *directory)
{
    struct err err;
    const char *note = "";
    const char *what = arena_printf(doctor->arena, "disk %s", directory);
    if (check_disk(directory, doctor->arena, &note, &err) < 0) {
        say(doctor, "FAIL", what, err.text);
    } else {
        say(doctor, strchr(note, ',') != NULL ? "warn" : "ok", what, note);
    }
}

/* ---------------------------------------------------------------- the network */

/* An older server cannot tell its time. */
static void look_at_peers_clock(struct doctor *doctor, const char *endpoint,
                                const char *peer, struct wire_client *client)
{
    struct wire_clock difference;
    struct err err;
    const char *what = arena_printf(doctor->arena, "clock of %s, %s", peer, endpoint);
    int rc = wire_clock_ask(client, CONNECT_MS, &difference, &err);
    if (rc == ERR_STATE) {
        say(doctor, "warn", what, err.text);
        return;
    }
    if (rc == 0) {
        rc = wire_clock_check(&difference, peer, &err);
    }
    say(doctor, rc == 0 ? "ok" : "FAIL", what,
        rc != 0 ? err.text
                : arena_printf(doctor->arena, "differs by %lld ms",
                               llabs((long long)difference.ahead_ms)));
}

static void look_at_peer(struct doctor *doctor, const char *endpoint,
                         const struct wire_words *words, const struct wire_key *key,
                         const struct wire_key *peer_key)
{
    struct wire_client *client = NULL;
    struct err err;
    int rc = wire_client_new(endpoint, key, peer_key->public_z85, &client, &err);
    if (rc == 0) {
        rc = wire_client_explain(client, words, &err);
    }
    int64_t deadline_ms = daemon_now_ms() + CONNECT_MS;
    while (rc == 0 && !wire_client_is_connected(client)) {
        int64_t now_ms = daemon_now_ms();
        if (wire_client_look(client, now_ms, &err)) {
            rc = err.code;
        } else if (now_ms > deadline_ms) {
            rc = err_set(&err, ERR_AWAY, "no answer in %d s", CONNECT_MS / 1000);
        } else {
            zmq_poll(NULL, 0, 50);
        }
    }
    judge(doctor, rc,
          arena_printf(doctor->arena, "connection to %s, %s", words->peer, endpoint),
          &err);
    if (rc == 0) {
        look_at_peers_clock(doctor, endpoint, words->peer, client);
    }
    wire_client_free(client);
}

/* ---------------------------------------------------------------- the machine */

static void look_at_clock(struct doctor *doctor)
{
    struct timex clock = {0};
    if (adjtimex(&clock) == TIME_ERROR) {
        say(doctor, "warn", "clock",
            "not synchronized by NTP; times in listings and logs of other machines may "
            "differ. Run: apt-get install systemd-timesyncd");
    } else {
        say(doctor, "ok", "clock", "synchronized by NTP");
    }
}

static void look_at_files(struct doctor *doctor)
{
    struct rlimit files = {0};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    const char *text = arena_printf(
        doctor->arena, "at most %llu in this session%s",
        (unsigned long long)files.rlim_max,
        files.rlim_max < FILES_MIN ? "; set LimitNOFILE=65536 in the service" : "");
    say(doctor, files.rlim_max < FILES_MIN ? "warn" : "ok", "descriptors", text);
}

static bool has_word(const char *path, const char *word)
{
    char text[512] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
    if (file >= 0) {
        close(file);
    }
    return got > 0 && strstr(text, word) != NULL;
}

static void look_at_cgroups(struct doctor *doctor)
{
    static const char memory[] = "memory";
    if (has_word("/sys/fs/cgroup/cgroup.controllers", memory) ||
        access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK) == 0) {
        say(doctor, "ok", "cgroups", "the kernel enforces memory limits of jobs");
    } else if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0 ||
               access("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0) {
        say(doctor, "warn", "cgroups",
            "no memory controller: memory limits are checked every second. Boot "
            "without "
            "cgroup_disable=memory");
    } else {
        say(doctor, "warn", "cgroups",
            "none: processes that leave a job's session are not found. Mount cgroup2 "
            "at "
            "/sys/fs/cgroup");
    }
}

/* ---------------------------------------------------------------- daemons */

static void look_at_broker(struct doctor *doctor, const struct broker_setup *setup)
{
    struct wire_key key, member;
    bool is_service =
        access("/lib/systemd/system/sublet-broker.service", F_OK) == 0 ||
        access("/usr/lib/systemd/system/sublet-broker.service", F_OK) == 0;
    load_key(doctor, "the broker's key", setup->key, true,
             is_service && geteuid() == 0 ? "sublet" : NULL, &key);
    for (int i = 0; i < setup->config.n_members; i++) {
        load_key(doctor,
                 arena_printf(doctor->arena, "key of member %s",
                              setup->config.members[i].name),
                 setup->key_files[i], false, NULL, &member);
    }
    const char *slash = strrchr(setup->state, '/');
    look_at_disk(doctor, slash == NULL ? "."
                                       : arena_strn(doctor->arena, setup->state,
                                                    (size_t)(slash - setup->state)));
    explicit_bzero(&key, sizeof(key));
}

static void look_at_socket(struct doctor *doctor, const char *path)
{
    struct local_client *client = NULL;
    struct err err;
    int rc = local_client_new(path, &client, &err);
    local_client_free(client);
    if (rc < 0) {
        err_prefix(&err, "sublet-site does not answer (systemctl status sublet-site)");
    }
    judge(doctor, rc, arena_printf(doctor->arena, "socket %s", path), &err);
}

static void look_at_site(struct doctor *doctor, const struct site_setup *setup)
{
    static const struct wire_words words = {
        .peer = "the broker",
        .endpoint = "BROKER",
        .peer_key = "BROKER_KEY",
        .list = "KEY_FILE in this site's Member row at the broker",
    };
    struct wire_key key, broker_key, host_key;
    struct err err;
    bool has_key = setup->key != NULL &&
                   load_key(doctor, "the site's key", setup->key, true, NULL, &key);
    for (int i = 0; i < setup->config.n_hosts && setup->host_keys != NULL; i++) {
        const struct site_host *host = &setup->config.hosts[i];
        if (!host->is_here) {
            load_key(
                doctor, arena_printf(doctor->arena, "key of host %s", host->name),
                arena_printf(doctor->arena, "%s/%s.key", setup->host_keys, host->name),
                false, NULL, &host_key);
        }
    }
    look_at_disk(doctor, setup->spool);
    if (geteuid() == 0) {
        int rc = daemon_check_reach(setup->spool, &err);
        judge(doctor, rc, arena_printf(doctor->arena, "users reach %s", setup->spool),
              &err);
    }
    look_at_socket(doctor, setup->socket);
    for (int i = 0; i < setup->n_brokers && has_key; i++) {
        const struct site_broker *broker = &setup->brokers[i];
        if (load_key(doctor, "the broker's key", broker->key, false, NULL,
                     &broker_key)) {
            look_at_peer(doctor, broker->endpoint, &words, &key, &broker_key);
        }
    }
    if (setup->n_hosts_here > 0) {
        look_at_cgroups(doctor);
    }
}

static void look_at_host(struct doctor *doctor, const char *path)
{
    static const struct wire_words words = {
        .peer = "the site",
        .endpoint = "SITE",
        .peer_key = "SITE_KEY",
        .list = "this host's key file in HOST_KEYS of the site",
    };
    const char *site = NULL, *key_file = "/etc/sublet/keys/host.key_secret",
               *site_key_file = "/etc/sublet/keys/site.key";
    struct wire_key key, site_key;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *value = strchr(line, '=');
        value = value != NULL ? arena_str(doctor->arena, value + 1) : "";
        site = strncmp(line, "SITE=", 5) == 0 ? value : site;
        key_file = strncmp(line, "KEY=", 4) == 0 ? value : key_file;
        site_key_file = strncmp(line, "SITE_KEY=", 9) == 0 ? value : site_key_file;
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    if (site == NULL) {
        return; /* this machine is no host of another one's site */
    }
    bool has_keys =
        load_key(doctor, "this host's key", key_file, true, NULL, &key) &&
        load_key(doctor, "the site's key", site_key_file, false, NULL, &site_key);
    if (has_keys && strncmp(site, "tcp://", 6) == 0) {
        look_at_peer(doctor, site, &words, &key, &site_key);
    }
    look_at_disk(doctor, "/var/lib/sublet/hosts");
    look_at_cgroups(doctor);
}

/* ---------------------------------------------------------------- the command */

static void look_at_configuration(struct doctor *doctor, char *path)
{
    struct conf conf;
    struct broker_setup broker = {0};
    struct site_setup site = {0};
    char *paths[] = {path};
    conf_init(&conf, doctor->arena);
    daemon_conf_read(&conf, paths, 1);
    conf_check(&conf);
    bool is_broker = broker_config_read(&conf, &broker);
    bool is_site = site_config_read(&conf, &site);
    if (conf.n_errors > 0) {
        say(doctor, "FAIL", path,
            arena_printf(doctor->arena, "%d errors; run: sublet check %s",
                         conf.n_errors, path));
        return;
    }
    say(doctor, conf.n_warnings > 0 ? "warn" : "ok", path,
        conf.n_warnings > 0
            ? arena_printf(doctor->arena, "%d warnings; run: sublet check %s",
                           conf.n_warnings, path)
            : "");
    if (is_broker) {
        look_at_broker(doctor, &broker);
    }
    if (is_site) {
        look_at_site(doctor, &site);
    }
}

/* A service that has no key is not configured. */
static bool is_configured(const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "/etc/sublet/keys/%s.key_secret", name);
    return access(key, F_OK) == 0;
}

int cmd_doctor_run(struct call *call)
{
    static char broker_path[] = "/etc/sublet/broker.conf";
    static char site_path[] = "/etc/sublet/site.conf";
    struct doctor doctor = {.arena = &call->arena};
    zsys_handler_set(NULL);
    for (int i = 0; i < call->n_operands; i++) {
        look_at_configuration(&doctor, call->operands[i]);
    }
    if (call->n_operands == 0) {
        bool is_broker = is_configured("broker"), is_site = is_configured("site"),
             is_host = is_configured("host");
        if (!is_broker && !is_site && !is_host) {
            return call_fail(
                "doctor: no key in /etc/sublet/keys, so that no service is "
                "configured; name the files of your configuration, or make "
                "a key: sublet keygen /etc/sublet/keys/site");
        }
        if (is_broker) {
            look_at_configuration(&doctor, broker_path);
        }
        if (is_site) {
            look_at_configuration(&doctor, site_path);
        }
        if (is_host) {
            look_at_host(&doctor, "/etc/sublet/host.env");
        }
    }
    look_at_clock(&doctor);
    look_at_files(&doctor);
    int status = call_finish_output();
    if (status == CALL_OK && doctor.n_failed > 0) {
        status = call_fail("doctor: %d check%s failed", doctor.n_failed,
                           doctor.n_failed == 1 ? "" : "s");
    }
    return status;
}
