/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup_root.c: where runs' cgroups go on machines of many kinds: a tree of files
 * of our own, and what /proc would say of it. A place without cgroup.subtree_control is
 * one that cannot give the memory controller on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/kernel/kernel.h"
#include "tests/unit/host/fake_cgroup.h"

/* Both hierarchies, and one that is none of ours in front. */
static void put_mounts(const struct fake_cgroup *fake, bool has_2, bool has_1)
{
    char text[2048];
    int length = snprintf(text, sizeof(text),
                          "21 1 0:20 / /proc rw - proc proc rw\n"
                          "30 1 0:29 / %s/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
                          fake->root);
    if (has_1) {
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "31 1 0:30 / %s/memory rw,relatime - cgroup cgroup "
                           "rw,xattr,memory\n",
                           fake->root);
    }
    if (has_2) {
        snprintf(text + length, sizeof(text) - (size_t)length,
                 "32 1 0:31 / %s/unified rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
                 fake->root);
    }
    fake_cgroup_put(fake, "proc/mountinfo", text);
}

static void make_cgroup(const struct fake_cgroup *fake, const char *path,
                        bool gives_memory)
{
    char name[FAKE_CGROUP_PATH];
    fake_cgroup_make_dir(fake, path);
    snprintf(name, sizeof(name), "%s/cgroup.procs", path);
    fake_cgroup_put(fake, name, "");
    if (gives_memory) {
        snprintf(name, sizeof(name), "%s/cgroup.subtree_control", path);
        fake_cgroup_put(fake, name, "cpu io pids\n");
        snprintf(name, sizeof(name), "%s/sublet", path);
        make_cgroup(fake, name, false);
        snprintf(name, sizeof(name), "%s/sublet/cgroup.subtree_control", path);
        fake_cgroup_put(fake, name, "");
    }
}

static int begin(void **state)
{
    struct fake_cgroup *fake = calloc(1, sizeof(*fake));
    fake_cgroup_init(fake);
    fake_cgroup_make_dir(fake, "proc");
    *state = fake;
    return 0;
}

static int finish(void **state)
{
    fake_cgroup_release(*state);
    free(*state);
    return 0;
}

/* `path` and `memory`: below the tree's root, "" none. */
static void expect(const struct fake_cgroup *fake, const char *path, bool has_memory,
                   const char *memory)
{
    struct cgroup_root found;
    cgroup_root_find(fake_cgroup_path(fake, "proc"), &found);
    assert_string_equal(found.path,
                        path[0] == '\0' ? "" : fake_cgroup_path(fake, path));
    assert_int_equal(found.has_memory, has_memory);
    assert_string_equal(found.memory,
                        memory[0] == '\0' ? "" : fake_cgroup_path(fake, memory));
}

static void test_none(void **state)
{
    struct fake_cgroup *fake = *state;
    expect(fake, "", false, ""); /* no /proc */
    put_mounts(fake, false, false);
    fake_cgroup_put(fake, "proc/cgroup", "1:name=systemd:/\n");
    expect(fake, "", false, "");
    put_mounts(fake, true, true); /* what is not there cannot be written to */
    fake_cgroup_put(fake, "proc/cgroup", "0::/\n");
    expect(fake, "", false, "");
}

/* Its unit has Delegate=yes alone: our process is in it, it gives no memory on. Where
 * the root does, that is better. */
static void test_own(void **state)
{
    struct fake_cgroup *fake = *state;
    put_mounts(fake, true, false);
    fake_cgroup_put(fake, "proc/cgroup", "0::/host.service\n");
    make_cgroup(fake, "unified", false);
    make_cgroup(fake, "unified/host.service", false);
    expect(fake, "unified/host.service/sublet", false, "");
    fake_cgroup_put(fake, "unified/cgroup.subtree_control", "");
    fake_cgroup_put(fake, "unified/sublet/cgroup.subtree_control", "");
    expect(fake, "unified/sublet", true, "");
}

static void test_beside_the_agent(void **state)
{
    struct fake_cgroup *fake = *state;
    put_mounts(fake, true, true);
    fake_cgroup_put(fake, "proc/cgroup", "2:cpu:/\n0::/host.service/agent\n");
    make_cgroup(fake, "unified", true);
    make_cgroup(fake, "memory", false);
    make_cgroup(fake, "unified/host.service", true);
    make_cgroup(fake, "unified/host.service/agent", false);
    expect(fake, "unified/host.service/sublet", true, "");
    fake_cgroup_expect(fake, "unified/host.service/cgroup.subtree_control", "+memory");
    fake_cgroup_expect(fake, "unified/host.service/sublet/cgroup.subtree_control",
                       "+memory");
}

/* A hybrid machine: version 2 freezes and kills, version 1 keeps the memory. */
static void test_version_1(void **state)
{
    struct fake_cgroup *fake = *state;
    put_mounts(fake, true, true);
    fake_cgroup_put(fake, "proc/cgroup", "4:memory:/user\n0::/\n");
    make_cgroup(fake, "unified", false);
    make_cgroup(fake, "memory", false);
    expect(fake, "unified/sublet", false, "memory/sublet");
    put_mounts(fake, false, true); /* and one without version 2 */
    expect(fake, "", false, "memory/sublet");
}

/* Our cgroup is outside of what we can see. */
static void test_outside(void **state)
{
    struct fake_cgroup *fake = *state;
    put_mounts(fake, true, false);
    fake_cgroup_put(fake, "proc/cgroup", "0::/../elsewhere\n");
    make_cgroup(fake, "unified", true);
    expect(fake, "", false, "");
}

int main(void)
{
#define FAKE(name) cmocka_unit_test_setup_teardown(name, begin, finish)
    const struct CMUnitTest tests[] = {
        FAKE(test_none),      FAKE(test_own),     FAKE(test_beside_the_agent),
        FAKE(test_version_1), FAKE(test_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
