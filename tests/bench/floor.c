/* SPDX-License-Identifier: Apache-2.0 */
/* floor.c: see floor.h. */
#include "tests/bench/floor.h"

#include <czmq.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    MESSAGE_BYTES = 64,
    PEERS_MAX = 64,
    PEER_MS = 2000, /* between two reports of a site */
};

static const double measured_s = 0.6, rest_settle_s = 2, rest_measured_s = 4;

extern char **environ;

/* ---------------------------------------------------------------- SQLite */

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        bench_fail("%s: %s", sql, sqlite3_errmsg(db));
    }
}

double floor_commit_rows(const struct bench_place *place, int batch)
{
    static const char put_sql[] = "INSERT INTO floor (text) VALUES (?1)";
    char path[256];
    snprintf(path, sizeof(path), "%s/floor.db", place->dir);
    sqlite3 *db;
    sqlite3_stmt *put;
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        bench_fail("%s: %s", path, sqlite3_errmsg(db));
    }
    execute(db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                "PRAGMA synchronous=FULL; DROP TABLE IF EXISTS floor;"
                "CREATE TABLE floor (id INTEGER PRIMARY KEY, text TEXT) STRICT");
    sqlite3_prepare_v2(db, put_sql, -1, &put, NULL);
    double start = bench_now(), now = start;
    long count = 0;
    while ((now = bench_now()) < start + measured_s) {
        execute(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < batch; i++) {
            sqlite3_bind_text(put, 1, "north/1/south changed its split once more", -1,
                              SQLITE_STATIC);
            sqlite3_step(put);
            sqlite3_reset(put);
        }
        execute(db, "COMMIT");
        count += batch;
    }
    sqlite3_finalize(put);
    sqlite3_close(db);
    unlink(path);
    return (double)count / (now - start);
}

/* ---------------------------------------------------------------- CURVE */

struct echo {
    zcert_t *cert;
    int port;
};

static void return_messages(void *router)
{
    zmq_msg_t id, body;
    zmq_msg_init(&id);
    zmq_msg_init(&body);
    while (zmq_msg_recv(&id, router, ZMQ_DONTWAIT) >= 0) {
        zmq_msg_recv(&body, router, 0);
        zmq_msg_send(&id, router, ZMQ_SNDMORE);
        zmq_msg_send(&body, router, ZMQ_DONTWAIT);
    }
}

/* Returns all messages until it receives the order to end. */
static void echo_main(zsock_t *pipe, void *arg)
{
    struct echo *echo = arg;
    zsock_t *router = zsock_new(ZMQ_ROUTER);
    zcert_apply(echo->cert, router);
    zsock_set_curve_server(router, 1);
    echo->port = zsock_bind(router, "tcp://127.0.0.1:*");
    zsock_signal(pipe, 0);
    void *raw = zsock_resolve(router);
    zmq_pollitem_t items[] = {{.socket = raw, .events = ZMQ_POLLIN},
                              {.socket = zsock_resolve(pipe), .events = ZMQ_POLLIN}};
    while (zmq_poll(items, 2, -1) >= 0 && items[1].revents == 0) {
        return_messages(raw);
    }
    zsock_destroy(&router);
}

static void ask(void *dealer)
{
    static const char bytes[MESSAGE_BYTES];
    zmq_send(dealer, bytes, sizeof(bytes), ZMQ_DONTWAIT);
}

static long take_answers(void *dealer)
{
    char bytes[MESSAGE_BYTES];
    long count = 0;
    while (zmq_recv(dealer, bytes, sizeof(bytes), ZMQ_DONTWAIT) >= 0) {
        count++;
        ask(dealer);
    }
    return count;
}

static long trip_for(zsock_t **dealers, int n_peers, double until)
{
    zmq_pollitem_t items[PEERS_MAX];
    long count = 0;
    for (int i = 0; i < n_peers; i++) {
        items[i] =
            (zmq_pollitem_t){.socket = zsock_resolve(dealers[i]), .events = ZMQ_POLLIN};
    }
    while (bench_now() < until && zmq_poll(items, n_peers, 100) >= 0) {
        for (int i = 0; i < n_peers; i++) {
            count += items[i].revents != 0 ? take_answers(items[i].socket) : 0;
        }
    }
    return count;
}

static zsock_t *connect_to(const struct echo *echo)
{
    zcert_t *cert = zcert_new();
    zsock_t *dealer = zsock_new(ZMQ_DEALER);
    zcert_apply(cert, dealer);
    zsock_set_curve_serverkey(dealer, zcert_public_txt(echo->cert));
    zsock_set_linger(dealer, 0);
    zsock_connect(dealer, "tcp://127.0.0.1:%d", echo->port);
    zcert_destroy(&cert);
    return dealer;
}

double floor_round_trips(int n_peers, int n_outstanding)
{
    struct echo echo = {.cert = zcert_new()};
    zsock_t *dealers[PEERS_MAX];
    zactor_t *actor = zactor_new(echo_main, &echo);
    for (int i = 0; i < n_peers; i++) {
        dealers[i] = connect_to(&echo);
        for (int k = 0; k < n_outstanding; k++) {
            ask(zsock_resolve(dealers[i]));
        }
    }
    trip_for(dealers, n_peers, bench_now() + 0.3); /* handshakes */
    double start = bench_now();
    long count = trip_for(dealers, n_peers, start + measured_s);
    double rate = (double)count / (bench_now() - start);
    zactor_destroy(&actor);
    for (int i = 0; i < n_peers; i++) {
        zsock_destroy(&dealers[i]);
    }
    zcert_destroy(&echo.cert);
    return rate;
}

/* ---------------------------------------------------------------- at rest */

/* A process of its own, so that its processor time is known. Its context is its own,
 * too: that of the parent cannot be used after a fork. */
_Noreturn static void serve(const struct echo *echo)
{
    void *router = zmq_socket(zmq_ctx_new(), ZMQ_ROUTER);
    char endpoint[64];
    int is_server = 1;
    snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", echo->port);
    zmq_setsockopt(router, ZMQ_CURVE_SERVER, &is_server, sizeof(is_server));
    zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, zcert_secret_txt(echo->cert), 41);
    zmq_pollitem_t item = {.socket = router, .events = ZMQ_POLLIN};
    int status = zmq_bind(router, endpoint);
    while (status >= 0) {
        status = zmq_poll(&item, 1, -1);
        return_messages(router);
    }
    _exit(EXIT_FAILURE);
}

/* One message of each peer in PEER_MS; answers are taken half a turn later. */
static void rest_for(zsock_t **dealers, int n_peers, double duration_s)
{
    double start = bench_now();
    char bytes[MESSAGE_BYTES];
    for (int i = 0; bench_now() < start + duration_s; i++) {
        double due = start + (double)i * PEER_MS / 1000 / n_peers;
        double wait_s = due - bench_now();
        if (wait_s > 0) {
            usleep((useconds_t)(wait_s * 1e6));
        }
        ask(zsock_resolve(dealers[i % n_peers]));
        void *other = zsock_resolve(dealers[(i + n_peers / 2) % n_peers]);
        while (zmq_recv(other, bytes, sizeof(bytes), ZMQ_DONTWAIT) >= 0) {
        }
    }
}

double floor_rest_percent(int n_peers)
{
    struct echo echo = {.cert = zcert_new(), .port = bench_free_port()};
    zsock_t **dealers = mem_alloc((size_t)n_peers, sizeof(*dealers));
    pid_t pid = fork();
    if (pid == 0) {
        serve(&echo);
    }
    for (int i = 0; i < n_peers; i++) {
        dealers[i] = connect_to(&echo);
    }
    rest_for(dealers, n_peers, rest_settle_s); /* handshakes */
    double start = bench_now(), cpu_s = bench_process_cpu_s(pid);
    rest_for(dealers, n_peers, rest_measured_s);
    double percent = (bench_process_cpu_s(pid) - cpu_s) / (bench_now() - start) * 100;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < n_peers; i++) {
        zsock_destroy(&dealers[i]);
    }
    free(dealers);
    zcert_destroy(&echo.cert);
    return percent;
}

/* ---------------------------------------------------------------- processes */

static pid_t spawn_true(void)
{
    char path[] = "/bin/true";
    char *arguments[] = {path, NULL};
    pid_t pid;
    return posix_spawn(&pid, path, NULL, NULL, arguments, environ) == 0 ? pid : -1;
}

double floor_spawns(int n_at_once)
{
    double start = bench_now(), now = start;
    long count = 0;
    int n_running = 0;
    while ((now = bench_now()) < start + measured_s || n_running > 0) {
        while (n_running < n_at_once && now < start + measured_s) {
            n_running += spawn_true() > 0;
        }
        if (waitpid(-1, NULL, 0) > 0) {
            n_running--;
            count++;
        }
    }
    return (double)count / (now - start);
}
