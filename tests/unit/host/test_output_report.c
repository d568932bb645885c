/* SPDX-License-Identifier: Apache-2.0 */
/* test_output_report.c: the report in the output file, as programs read it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "host/guard/output_report.h"

enum { SECOND = 1000 };

static const char *env[] = {"LSB_JOBID=12",
                            "LSB_BATCH_JID=12[3]",
                            "LSB_JOBNAME=sort[3]",
                            "LSB_QUEUE=night",
                            "LSB_HOSTS=n1 n1 n2",
                            "LSB_MCPU_HOSTS=n1 2 n2 1",
                            "LSB_DJOB_NUMPROC=3",
                            "LSB_SUB_HOST=login",
                            "LSB_SUB_HOSTS=no",
                            "HOME=/home/ann",
                            NULL};

static char *text_of(const struct stages *stages, const struct run_spec *spec)
{
    const struct output_report report = {.spec = spec,
                                         .stages = stages,
                                         .start_ms = 1000 * SECOND,
                                         .end_ms = 1064 * SECOND + 999,
                                         .cpu_ms = 92557880,
                                         .mem_kib = 9836 * 1024 + 1};
    return output_report_text(&report);
}

static struct run_spec a_spec(void)
{
    return (struct run_spec){.run = "north.west.77",
                             .account = "worker",
                             .user = "ann",
                             .command = "sort in\nsync",
                             .cwd = "/home/ann/work",
                             .err_file = "",
                             .report_ms = 990 * SECOND,
                             .env = env};
}

static void expect_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("expected \"%s\" in\n%s", part, text);
    }
}

static void test_whole_report(void **state)
{
    const struct stages stages = {.is_decided = true, .end = RUN_END_EXITED};
    struct run_spec spec = a_spec();
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    char *text = text_of(&stages, &spec);
    assert_string_equal(
        text,
        "\n------------------------------------------------------------\n"
        "Sender: LSF System <sublet@n1>\n"
        "Subject: Job 12[3]: <sort[3]> in cluster <north.west> Done\n\n"
        "Job <sort[3]> was submitted from host <login> by user <ann> in cluster "
        "<north.west> at Thu Jan  1 00:16:30 1970\n"
        "Job was executed on host(s) <2*n1>, in queue <night>, as user <worker> in "
        "cluster <north.west> at Thu Jan  1 00:16:40 1970\n"
        "                            <1*n2>\n"
        "</home/ann> was used as the home directory.\n"
        "</home/ann/work> was used as the working directory.\n"
        "Started at Thu Jan  1 00:16:40 1970\n"
        "Terminated at Thu Jan  1 00:17:44 1970\n"
        "Results reported at Thu Jan  1 00:17:44 1970\n\n"
        "Your job looked like:\n\n"
        "------------------------------------------------------------\n"
        "# LSBATCH: User input\nsort in\nsync\n"
        "------------------------------------------------------------\n\n"
        "Successfully completed.\n\n"
        "Resource usage summary:\n\n"
        "    CPU time :                                   92557.88 sec.\n"
        "    Max Memory :                                 9836 MB\n"
        "    Average Memory :                             -\n"
        "    Total Requested Memory :                     -\n"
        "    Delta Memory :                               -\n"
        "    Max Swap :                                   -\n"
        "    Max Processes :                              -\n"
        "    Max Threads :                                -\n"
        "    Run time :                                   64 sec.\n"
        "    Turnaround time :                            74 sec.\n\n"
        "The output (if any) is above this job summary.\n\n");
    free(text);
}

static void test_ends(void **state)
{
    static const struct {
        const char *why;
        struct stages stages;
        const char *says;
    } rows[] = {
        {"an exit code",
         {.end = RUN_END_EXITED, .code = 3},
         "\n\nExited with exit code 3.\n\n"},
        {"a signal",
         {.end = RUN_END_SIGNALLED, .code = 9},
         "\n\nExited by signal 9.\n\n"},
        {"the run limit, whatever the job made of its signal",
         {.end = RUN_END_LIMIT, .cause = RUN_CAUSE_RUN_LIMIT, .code = 130},
         "\n\nTERM_RUNLIMIT: job killed after reaching LSF run time limit.\n"
         "Exited with exit code 130.\n\n"},
        {"a job that ended well at its run limit has not completed",
         {.end = RUN_END_LIMIT, .cause = RUN_CAUSE_RUN_LIMIT, .code = 0},
         "limit.\nExited with exit code 0.\n\n"},
        {"the memory limit",
         {.end = RUN_END_LIMIT, .cause = RUN_CAUSE_MEM_LIMIT, .code = 137},
         "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n"
         "Exited with exit code 137.\n\n"},
        {"no program",
         {.end = RUN_END_FAILED, .text = "cannot enter \"/x\""},
         "The command could not be started: cannot enter \"/x\".\n\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run_spec spec = a_spec();
        char *text = text_of(&rows[i].stages, &spec);
        if (strstr(text, rows[i].says) == NULL ||
            strstr(text, "in cluster <north.west> Exited\n") == NULL ||
            strstr(text, "Successfully completed") != NULL) {
            fail_msg("%s: %s", rows[i].why, text);
        }
        free(text);
    }
}

/* The name of a job without one is its command, in one line; a single slot has no
 * number; and a file of -e is named. */
static void test_plain_job(void **state)
{
    static const char *plain[] = {"LSB_JOBNAME=",       "LSB_HOSTS=n7",
                                  "LSB_DJOB_NUMPROC=1", "LSB_MCPU_HOSTS=n7 1",
                                  "LSB_BATCH_JID=5",    NULL};
    const struct stages stages = {.is_decided = true, .end = RUN_END_EXITED};
    struct run_spec spec = a_spec();
    (void)state;
    spec.env = plain;
    spec.err_file = "/tmp/err.5";
    char *text = text_of(&stages, &spec);
    expect_in(text, "Subject: Job 5: <sort in;sync> in cluster");
    expect_in(text, "on host(s) <n7>, in queue <>");
    expect_in(text,
              "\n\nPS:\n\nRead file </tmp/err.5> for stderr output of this job.\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_report),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_plain_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
