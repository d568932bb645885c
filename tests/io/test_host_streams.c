/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_streams.c: a guard that ends while its packets are passed on. A packet for
 * the site begins a batch, which may have a packet of the site for the same guard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/host_streams.h"
#include "host/run_dir/run_dir.h"
#include "tests/io/run_fixture.h"

static const struct host_run run = {.name = "north.1", .site = "north", .attempt = 1};
static const struct msg_stream_down down = {.bytes = (const uint8_t *)""};

static struct trial {
    struct run_fixture fixture;
    struct host_spool spool;
    struct exec_session session;
    struct host_runs *runs;
    struct host_streams *streams;
    zloop_t *loop;
    int listener;
    int n_up;
} trial;

/* The site answers at once. */
static void answer(void *arg, const struct msg_stream_up *up)
{
    (void)arg;
    assert_int_equal(up->run.attempt, run.attempt);
    trial.n_up++;
    host_streams_down(trial.streams, &run, &down);
}

static int setup(void **state)
{
    const struct host_runs_setting setting = {.guard = "", .boot_id = ""};
    struct err err;
    (void)state;
    trial = (struct trial){.loop = zloop_new()};
    run_fixture_init(&trial.fixture);
    if (host_spool_open(&trial.spool, trial.fixture.dir, &err) != 0 ||
        host_runs_new(trial.loop, &trial.spool, &setting, &trial.session, NULL,
                      &trial.runs, &err) != 0) {
        fail_msg("%s", err.text);
    }
    trial.streams = host_streams_new(trial.loop, trial.runs, answer, NULL);
    assert_int_equal(mkdirat(trial.spool.runs, run.name, 0700), 0);
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int dir = host_spool_open_run(&trial.spool, run.name);
    assert_int_equal(fchdir(dir), 0); /* as its guard does */
    assert_int_equal(run_socket_listen(RUN_DIR_STREAM, 2, &trial.listener, &err), 0);
    assert_int_equal(fchdir(before), 0);
    close(before);
    close(dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(trial.listener);
    host_streams_free(trial.streams);
    host_runs_free(trial.runs);
    host_spool_close(&trial.spool);
    zloop_destroy(&trial.loop);
    run_fixture_release(&trial.fixture);
    return 0;
}

static int end_loop(zloop_t *loop, int timer, void *arg)
{
    (void)loop, (void)timer, (void)arg;
    return trial.n_up < 2 ? 0 : -1;
}

static void test_a_guard_ends_while_it_is_answered(void **state)
{
    const struct stream_head head = {.stream = 0};
    struct stream_packet packet;
    (void)state;
    host_streams_down(trial.streams, &run, &down);
    int guard = run_socket_accept(trial.listener);
    assert_true(guard >= 0);
    assert_int_equal(recv(guard, &packet, sizeof(packet), 0), sizeof(head));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(send(guard, &head, sizeof(head), 0), sizeof(head));
    }
    close(guard);
    zloop_timer(trial.loop, 1, 0, end_loop, NULL);
    zloop_start(trial.loop);
    assert_int_equal(trial.n_up, 2);
    /* The connection is gone, and the next packet makes another one. */
    assert_int_equal(run_socket_accept(trial.listener), -1);
    host_streams_down(trial.streams, &run, &down);
    guard = run_socket_accept(trial.listener);
    assert_true(guard >= 0);
    close(guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_guard_ends_while_it_is_answered, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
