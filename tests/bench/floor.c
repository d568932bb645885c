/* SPDX-License-Identifier: Apache-2.0 */
/* floor.c: see floor.h. */
#include "tests/bench/floor.h"

#include <czmq.h>
#include <spawn.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 64, PEERS_MAX = 64 };

static const double measured_s = 0.6;

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
        zmq_msg_t id, body;
        zmq_msg_init(&id);
        zmq_msg_init(&body);
        while (zmq_msg_recv(&id, raw, ZMQ_DONTWAIT) >= 0) {
            zmq_msg_recv(&body, raw, 0);
            zmq_msg_send(&id, raw, ZMQ_SNDMORE);
            zmq_msg_send(&body, raw, ZMQ_DONTWAIT);
        }
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

double floor_round_trips(int n_peers, int n_outstanding)
{
    struct echo echo = {.cert = zcert_new()};
    zsock_t *dealers[PEERS_MAX];
    zactor_t *actor = zactor_new(echo_main, &echo);
    for (int i = 0; i < n_peers; i++) {
        zcert_t *cert = zcert_new();
        dealers[i] = zsock_new(ZMQ_DEALER);
        zcert_apply(cert, dealers[i]);
        zsock_set_curve_serverkey(dealers[i], zcert_public_txt(echo.cert));
        zsock_set_linger(dealers[i], 0);
        zsock_connect(dealers[i], "tcp://127.0.0.1:%d", echo.port);
        for (int k = 0; k < n_outstanding; k++) {
            ask(zsock_resolve(dealers[i]));
        }
        zcert_destroy(&cert);
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
