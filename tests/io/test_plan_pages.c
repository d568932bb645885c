/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_pages.c: `sublet plan show` fetches a plan with as many messages as there
 * are pages, at most; rows of a page that was cut come with another one; and an older
 * broker, which knows no numbers of rows and no fields, is asked page after page.
 *
 * A child process is the site and the broker behind it. It counts the messages. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "model/page.h"
#include "sys/daemon.h"
#include "sys/json.h"
#include "sys/local/local.h"
#include "tests/io/run_fixture.h"

enum { NODES = 3000, PAGE = 250, OF_FIELDS = 100 };

/* What the child is, and what it has seen. */
static struct shared {
    bool is_older; /* a page begins behind the node `after`, and there are no fields */
    bool is_cut;   /* no page has more than a third of the rows that are asked for */
    int n_messages;
} * shared;

static char directory[64], path[96];
static pid_t daemon_pid;

/* ---------------------------------------------------------------- the broker */

static struct local_server *server;

static int first_of(const char *after)
{
    if (after[0] == '/') {
        return (int)strtol(after + 2, NULL, 10) + 1;
    }
    return shared->is_older ? 0 : (int)strtol(after, NULL, 10);
}

/* Node i is /n<i>, and owns i slots. */
static struct value *make_row(struct arena *arena, const char *fields, int node)
{
    bool is_array = fields[0] != '\0';
    struct value *row = is_array ? value_array(arena) : value_object(arena);
    const char *name = arena_printf(arena, "/n%d", node);
    while (is_array && *fields != '\0') {
        size_t length = strcspn(fields, ",");
        if (strncmp(fields, "node", length) == 0) {
            value_add_text(arena, row, NULL, name);
        } else if (strncmp(fields, "owned", length) == 0) {
            value_add_int(arena, row, NULL, node);
        } else {
            value_add_null(arena, row, NULL);
        }
        fields += length + (fields[length] == ',');
    }
    if (!is_array) {
        value_add_text(arena, row, "node", name);
        value_add_int(arena, row, "owned", node);
        value_add_text(arena, row, "why", "a \"reason\"");
    }
    return row;
}

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct arena arena;
    struct page page;
    struct msg_query query = msg->query;
    const char *fields = shared->is_older ? "" : query.fields;
    int most = fields[0] != '\0' ? OF_FIELDS : PAGE;
    (void)arg;
    shared->n_messages++;
    query.limit = query.limit > 0 && query.limit < most ? query.limit : most;
    query.limit = shared->is_cut ? (query.limit + 2) / 3 : query.limit;
    arena_init(&arena);
    page_init(&page, &arena, "nodes", &query);
    if (fields[0] != '\0') {
        value_add(&arena, page.root, "fields", value_array(&arena));
    }
    for (int i = first_of(query.after); i < NODES && !page.is_full; i++) {
        page_add(&page, arena_printf(&arena, "/n%d", i), make_row(&arena, fields, i));
    }
    if (!shared->is_older) {
        value_add_int(&arena, page.root, "n_nodes", NODES);
    }
    char *json = json_render(page.root);
    struct msg reply = {.kind = MSG_REPLY,
                        .reply = {.request = query.request,
                                  .text = "",
                                  .json = json,
                                  .next = page_next(&page)}};
    struct err err;
    local_server_send(server, from, &reply, &err);
    free(json);
    arena_release(&arena);
}

static void on_turn(void *arg)
{
    (void)arg;
}

static void on_gone(void *arg, const struct peer *from)
{
    (void)arg, (void)from;
}

static int on_signal(int number, void *arg)
{
    (void)arg;
    return number == SIGTERM ? -1 : 0;
}

static void run_daemon(int ready_fd)
{
    daemon_block_signals();
    const struct local_handler handler = {
        .begin = on_turn, .message = on_message, .gone = on_gone, .end = on_turn};
    struct err err = {0};
    zloop_t *loop = zloop_new();
    if (daemon_watch_signals(loop, on_signal, NULL, &err) != ERR_NONE ||
        local_server_new(loop, path, 0666, &handler, &server, &err) != ERR_NONE) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    if (write(ready_fd, "x", 1) != 1) {
        _exit(1);
    }
    zloop_start(loop);
    local_server_free(server);
    zloop_destroy(&loop);
    zsys_shutdown();
    exit(0);
}

static int start(void **state)
{
    int ready[2];
    char byte;
    (void)state;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    snprintf(directory, sizeof(directory), "/tmp/test_plan_pages.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/sock", directory);
    assert_int_equal(pipe(ready), 0);
    daemon_pid = fork();
    if (daemon_pid == 0) {
        run_daemon(ready[1]);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return 0;
}

static int stop(void **state)
{
    int status = 0;
    char command[96];
    (void)state;
    kill(daemon_pid, SIGTERM);
    waitpid(daemon_pid, &status, 0);
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    munmap(shared, sizeof(*shared));
    return system(command) == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---------------------------------------------------------------- the client */

static FILE *run(const char *options)
{
    char program[4096], command[5000];
    run_fixture_program("sublet", program, sizeof(program));
    snprintf(command, sizeof(command), "'%s' --socket '%s' plan show p %s", program,
             path, options);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    return output;
}

static void assert_all_rows_as_json(void)
{
    json_error_t fault;
    FILE *output = run("--json");
    json_t *answer = json_loadf(output, 0, &fault);
    assert_int_equal(pclose(output), 0);
    assert_non_null(answer);
    assert_null(json_object_get(answer, "fields"));
    assert_int_equal(json_integer_value(json_object_get(answer, "schema_version")), 1);
    const json_t *rows = json_object_get(answer, "nodes");
    assert_int_equal(json_array_size(rows), NODES);
    for (int i = 0; i < NODES; i++) {
        char name[16];
        const json_t *row = json_array_get(rows, (size_t)i);
        snprintf(name, sizeof(name), "/n%d", i);
        assert_string_equal(json_string_value(json_object_get(row, "node")), name);
        assert_int_equal(json_integer_value(json_object_get(row, "owned")), i);
        assert_int_equal(json_object_size(row), 3);
    }
    json_decref(answer);
}

static void assert_all_rows_as_table(void)
{
    FILE *output = run("--noheader --sort -owned -o owned,node");
    char line[64], expected[64];
    for (int i = NODES; i-- > 0;) {
        assert_non_null(fgets(line, sizeof(line), output));
        snprintf(expected, sizeof(expected), "%-5d /n%d\n", i, i);
        assert_string_equal(line, expected);
    }
    assert_null(fgets(line, sizeof(line), output));
    assert_int_equal(pclose(output), 0);
}

static void a_plan_takes_as_many_messages_as_pages(void **state)
{
    (void)state;
    assert_all_rows_as_table();
    assert_int_equal(shared->n_messages, 1 + NODES / OF_FIELDS);
    shared->n_messages = 0;
    assert_all_rows_as_json();
    assert_int_equal(shared->n_messages, 1 + NODES / OF_FIELDS);
}

static void pages_that_were_cut_are_completed(void **state)
{
    (void)state;
    shared->is_cut = true;
    assert_all_rows_as_json();
    assert_all_rows_as_table();
}

static void an_older_broker_is_asked_page_after_page(void **state)
{
    (void)state;
    shared->is_older = true;
    assert_all_rows_as_table();
    assert_int_equal(shared->n_messages, NODES / PAGE);
    assert_all_rows_as_json();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plan_takes_as_many_messages_as_pages, start,
                                        stop),
        cmocka_unit_test_setup_teardown(pages_that_were_cut_are_completed, start, stop),
        cmocka_unit_test_setup_teardown(an_older_broker_is_asked_page_after_page, start,
                                        stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
