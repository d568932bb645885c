/* SPDX-License-Identifier: Apache-2.0 */
/* test_memcg.c: what a guard writes to the files of cgroups and how it reads
 * them, on files of our own: memory of version 2 and 1, freezing, CPU time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/kernel/kernel.h"
#include "host/kernel/kernel_file.h"
#include "tests/unit/host/fake_cgroup.h"

static int begin(void **state)
{
    struct fake_cgroup *fake = calloc(1, sizeof(*fake));
    fake_cgroup_init(fake);
    fake_cgroup_make_dir(fake, "run");
    *state = fake;
    return 0;
}

static int finish(void **state)
{
    fake_cgroup_release(*state);
    free(*state);
    return 0;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text, *key;
        int64_t expected;
    } rows[] = {
        {"low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\n", "oom_kill", 2},
        {"low 0\noom 3\noom_kill 2\n", "oom", 3},
        {"oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", "oom_kill", 5},
        {"oom_kill_disable 1\n", "oom_kill", -1},
        {"", "oom", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(kernel_file_find_number(rows[i].text, rows[i].key),
                         rows[i].expected);
    }
    struct fake_cgroup *fake = *state;
    int dir = open(fake_cgroup_path(fake, "run"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fake_cgroup_put(fake, "run/memory.peak", "4096000\n");
    assert_int_equal(kernel_file_read_number(dir, "memory.peak", ""), 4096000);
    assert_int_equal(kernel_file_read_number(dir, "memory.none", ""), -1);
    assert_false(kernel_file_write(dir, "memory.none", "1"));
    close(dir);
}

static void test_version_2(void **state)
{
    struct fake_cgroup *fake = *state;
    struct cgroup cgroup;
    struct memcg memory;
    fake_cgroup_put(fake, "run/cgroup.freeze", "0\n");
    assert_true(cgroup_make(&cgroup, fake_cgroup_path(fake, "run")));
    /* The controller is not delegated. */
    assert_false(memcg_use_cgroup(&memory, &cgroup));
    assert_false(memcg_set_limit(&memory, 1));
    assert_int_equal(memcg_oom_kills(&memory), -1);
    assert_int_equal(memcg_peak_kib(&memory), -1);
    assert_false(memcg_kills_whole_run(&memory));
    fake_cgroup_put(fake, "run/memory.max", "max\n");
    fake_cgroup_put(fake, "run/memory.swap.max", "max\n");
    fake_cgroup_put(fake, "run/memory.oom.group", "0\n");
    fake_cgroup_put(fake, "run/memory.events", "max 9\noom 1\noom_kill 4\n");
    fake_cgroup_put(fake, "run/memory.peak", "2048000\n");
    assert_true(memcg_use_cgroup(&memory, &cgroup));
    assert_false(memcg_kills_whole_run(&memory));
    assert_true(memcg_set_limit(&memory, 50000));
    fake_cgroup_expect(fake, "run/memory.max", "51200000");
    fake_cgroup_expect(fake, "run/memory.swap.max", "0");
    fake_cgroup_expect(fake, "run/memory.oom.group", "1");
    assert_true(memcg_kills_whole_run(&memory));
    assert_int_equal(memcg_oom_kills(&memory), 4);
    assert_int_equal(memcg_peak_kib(&memory), 2000);
    assert_true(memcg_add_process(&memory, 7)); /* it was born there */
    assert_true(memcg_enter(&memory));
    memcg_remove(&memory); /* which is the cgroup's to do */
    assert_true(cgroup_is_open(&cgroup));
    cgroup_close(&cgroup);
}

static void test_version_1(void **state)
{
    struct fake_cgroup *fake = *state;
    struct memcg memory;
    fake_cgroup_put(fake, "run/memory.limit_in_bytes", "9223372036854771712\n");
    fake_cgroup_put(fake, "run/memory.memsw.limit_in_bytes", "9223372036854771712\n");
    fake_cgroup_put(fake, "run/memory.oom_control",
                    "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
    fake_cgroup_put(fake, "run/memory.max_usage_in_bytes", "1024000\n");
    fake_cgroup_put(fake, "run/cgroup.procs", "");
    assert_true(memcg_make(&memory, fake_cgroup_path(fake, "run")));
    assert_true(memcg_add_process(&memory, 4711));
    fake_cgroup_expect(fake, "run/cgroup.procs", "4711");
    assert_false(memcg_enter(&memory)); /* no such file */
    fake_cgroup_put(fake, "run/tasks", "");
    assert_true(memcg_enter(&memory));
    fake_cgroup_expect(fake, "run/tasks", "0");
    assert_true(memcg_set_limit(&memory, 50000));
    fake_cgroup_expect(fake, "run/memory.limit_in_bytes", "51200000");
    fake_cgroup_expect(fake, "run/memory.memsw.limit_in_bytes", "51200000");
    assert_false(memcg_kills_whole_run(&memory));
    assert_int_equal(memcg_oom_kills(&memory), 6);
    assert_int_equal(memcg_peak_kib(&memory), 1000);
    /* More than there are bytes: no limit, and no overflow. */
    assert_true(memcg_set_limit(&memory, INT64_MAX));
    fake_cgroup_expect(fake, "run/memory.limit_in_bytes", "9223372036854775807");
    memcg_remove(&memory);
    assert_false(memcg_is_open(&memory));
}

/* A directory that is no cgroup of the controller is not used, and does not stay. */
static void test_no_controller(void **state)
{
    struct fake_cgroup *fake = *state;
    struct memcg memory;
    const char *path = fake_cgroup_path(fake, "run/new");
    assert_false(memcg_make(&memory, path));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_false(memcg_make(&memory, fake_cgroup_path(fake, "none/new")));
    struct cgroup cgroup;
    assert_false(cgroup_make(&cgroup, path)); /* a kernel before 5.2 */
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_cgroup(void **state)
{
    struct fake_cgroup *fake = *state;
    struct cgroup cgroup;
    fake_cgroup_put(fake, "run/cgroup.freeze", "0\n");
    fake_cgroup_put(fake, "run/cgroup.kill", "");
    fake_cgroup_put(fake, "run/cgroup.events", "populated 1\nfrozen 1\n");
    fake_cgroup_put(fake, "run/cpu.stat", "usage_usec 2500000\nuser_usec 1\n");
    assert_true(cgroup_open(&cgroup, fake_cgroup_path(fake, "run")));
    assert_true(cgroup_freeze(&cgroup, true));
    fake_cgroup_expect(fake, "run/cgroup.freeze", "1");
    assert_true(cgroup_freeze(&cgroup, false));
    fake_cgroup_expect(fake, "run/cgroup.freeze", "0");
    assert_true(cgroup_is_populated(&cgroup));
    cgroup_kill(&cgroup);
    fake_cgroup_expect(fake, "run/cgroup.kill", "1");
    assert_int_equal(cgroup_cpu_ms(&cgroup), 2500);
    fake_cgroup_put(fake, "run/cgroup.events", "populated 0\nfrozen 0\n");
    assert_false(cgroup_is_populated(&cgroup));
    cgroup_close(&cgroup);
}

int main(void)
{
#define FAKE(name) cmocka_unit_test_setup_teardown(name, begin, finish)
    const struct CMUnitTest tests[] = {
        FAKE(test_numbers),       FAKE(test_version_2), FAKE(test_version_1),
        FAKE(test_no_controller), FAKE(test_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
