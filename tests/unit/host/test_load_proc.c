/* SPDX-License-Identifier: Apache-2.0 */
/* test_load_proc.c: texts of the kernel, as machines have printed them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/load/load_proc.h"

static const char stat_text[] = "cpu  24317 2470 10229 127261 2610 30 952 1366 900 0\n"
                                "cpu0 12423 1239 5221 63040 1753 0 224 718 0 0\n"
                                "intr 5219 0 0 0\n"
                                "ctxt 123\n"
                                "btime 1795275092\n"
                                "processes 20825\n"
                                "procs_running 4\n"
                                "procs_blocked 2\n"
                                "softirq 1 2 3\n";

static void test_cpu(void **state)
{
    struct load_proc_cpu cpu;
    assert_true(load_proc_read_cpu(stat_text, &cpu));
    /* Guests' time is in user time already, time that was stolen is not ours. */
    assert_int_equal(cpu.busy_ticks, 24317 + 2470 + 10229 + 30 + 952);
    assert_int_equal(cpu.all_ticks, cpu.busy_ticks + 127261 + 2610 + 1366);
    assert_int_equal(cpu.n_running, 4);
    assert_int_equal(cpu.n_blocked, 2);
    assert_int_equal(cpu.boot_s, 1795275092);
}

static void test_cpu_incomplete(void **state)
{
    static const char *const texts[] = {
        "",
        "cpu 1 2\nbtime 1\nprocs_running 1\nprocs_blocked 0\n",
        "cpu 1 2 3 4\nbtime 1\nprocs_running 1\n",
        "cpu 1 2 3 4\nbtime 1\nprocs_running x\nprocs_blocked 0\n",
        "cpu 1 2 3 99999999999999999999\nbtime 1\nprocs_running 1\nprocs_blocked 0\n",
        "cpu0 1 2 3 4\nbtime 1\nprocs_running 1\nprocs_blocked 0\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct load_proc_cpu cpu = {.n_running = 77};
        assert_false(load_proc_read_cpu(texts[i], &cpu));
        assert_int_equal(cpu.n_running, 77);
    }
}

static void test_average(void **state)
{
    double minute = -1, quarter = -1;
    assert_true(
        load_proc_read_average("1.81 1.58 0.83 4/98 20825\n", &minute, &quarter));
    assert_true(minute == 1.81 && quarter == 0.83);
    assert_false(load_proc_read_average("", &minute, &quarter));
    assert_false(load_proc_read_average("1.0 nan 2.0", &minute, &quarter));
    assert_true(minute == 1.81 && quarter == 0.83);
}

static void test_memory(void **state)
{
    struct load_proc_memory memory;
    assert_true(load_proc_read_memory("MemTotal:       24682416 kB\n"
                                      "MemFree:        22596384 kB\n"
                                      "MemAvailable:   24254356 kB\n"
                                      "SwapCached:            9 kB\n"
                                      "SwapTotal:       2097148 kB\n"
                                      "SwapFree:        1048576 kB\n",
                                      &memory));
    assert_int_equal(memory.all_kib, 24682416);
    assert_int_equal(memory.free_kib,
                     24254356); /* not MemFree: caches can be given up */
    assert_int_equal(memory.all_swap_kib, 2097148);
    assert_int_equal(memory.free_swap_kib, 1048576);
    assert_false(load_proc_read_memory("MemTotal: 1 kB\n", &memory));
}

static void test_pages(void **state)
{
    uint64_t n_pages;
    assert_true(load_proc_read_pages("pgpgin 1371745\npgpgout 10031092\npswpin 7\n"
                                     "pswpout 30\npgfault 9999\npgmajfault 12\n",
                                     &n_pages));
    assert_int_equal(n_pages, 42); /* not files that are read and written */
    assert_false(load_proc_read_pages("pgpgin 1\npgpgout 2\n", &n_pages));
}

static void test_disk(void **state)
{
    uint64_t kib;
    assert_true(load_proc_read_disk(
        "   10484   3062  2744706  2433  154062  12 20062184 91324  0  59012 93757\n",
        &kib));
    assert_int_equal(kib, (2744706 + 20062184) / 2);
    assert_false(load_proc_read_disk("1 2 3 4 5 6\n", &kib));
}

static void test_model(void **state)
{
    static const char text[] = "processor\t: 0\nvendor_id\t: GenuineIntel\n"
                               "cpu family\t: 6\nmodel\t\t: 143\n"
                               "model name\t: Intel(R) Xeon(R) Processor\n"
                               "cpu MHz\t\t: 2000.000\nbogomips\t: 4000.00\n\n"
                               "processor\t: 1\nmodel name\t: other\n";
    char model[64];
    char small[16];
    assert_true(load_proc_read_model(text, model, sizeof(model)));
    assert_string_equal(model, "x6_4000_IntelRXeonRProcessor");
    assert_false(load_proc_read_model(text, small, sizeof(small)));
    assert_false(
        load_proc_read_model("CPU implementer\t: 0x41\n", model, sizeof(model)));
}

static void test_type(void **state)
{
    static const char *const rows[][2] = {
        {"x86_64", "X86_64"},        {"i686", "LINUX86"},    {"aarch64", "LINUX_ARM64"},
        {"ppc64le", "LINUXPPC64LE"}, {"riscv64", "RISCV64"}, {"", ""},
    };
    char type[NAME_SIZE];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        load_proc_type(rows[i][0], type, sizeof(type));
        assert_string_equal(type, rows[i][1]);
    }
    load_proc_type("riscv64", type, 4);
    assert_string_equal(type, "RIS");
}

static void test_counts(void **state)
{
    /* Two sockets of two cores of two threads; cores have the same numbers in both. */
    struct load_cpu_place server[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1},
                                      {0, 0}, {0, 1}, {1, 0}, {1, 1}};
    /* One socket: two cores with two threads, two with one. */
    struct load_cpu_place laptop[] = {{0, 0}, {0, 0}, {0, 4}, {0, 4}, {0, 8}, {0, 9}};
    struct load_machine facts = {.n_disks = 3};
    load_proc_count_cpus(&facts, server, 8);
    assert_int_equal(facts.n_procs, 2);
    assert_int_equal(facts.n_cores, 2);
    assert_int_equal(facts.n_threads, 2);
    load_proc_count_cpus(&facts, laptop, 6);
    assert_int_equal(facts.n_procs, 1);
    assert_int_equal(facts.n_cores, 4);
    assert_int_equal(facts.n_threads, 2);
    load_proc_count_cpus(&facts, laptop, 0);
    assert_int_equal(facts.n_procs, 1);
    assert_int_equal(facts.n_cores, 1);
    assert_int_equal(facts.n_threads, 1);
    assert_int_equal(facts.n_disks, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),     cmocka_unit_test(test_cpu_incomplete),
        cmocka_unit_test(test_average), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_pages),   cmocka_unit_test(test_disk),
        cmocka_unit_test(test_model),   cmocka_unit_test(test_type),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
