/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_cluster.c: see slurm_cluster.h. */
#include "tests/io/slurm_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "slurm/io/slurm_child.h"

static const char inside[] = "SUBLET_SLURM_INSIDE";

const char *slurm_cluster_inside(void)
{
    return getenv(inside);
}

static const char *missing_program(void)
{
    static const char *const programs[] = {"/usr/bin/unshare", "/usr/sbin/munged",
                                           "/usr/sbin/slurmctld-wlm",
                                           "/usr/sbin/slurmd-wlm", "/usr/bin/sbatch"};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (access(programs[i], X_OK) != 0) {
            return programs[i];
        }
    }
    return geteuid() == 0 ? NULL : "root";
}

static void enter(const char *dir, const char *settings)
{
    char program[1024] = "";
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 ||
        setenv(inside, dir, 1) != 0 || setenv("SETTINGS", settings, 1) != 0) {
        _exit(126);
    }
    execlp("unshare", "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
           "--mount-proc", "tests/slurm/cluster", dir, program, NULL);
    _exit(127);
}

void slurm_cluster_run(const char *settings)
{
    char dir[] = "/tmp/sublet-slurm-XXXXXX", line[64];
    const char *missing = missing_program();
    int status;
    if (missing != NULL) {
        print_message("without %s there is no cluster to test with\n", missing);
        skip();
    }
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chmod(dir, 0755), 0);
    pid_t pid = fork();
    if (pid == 0) {
        enter(dir, settings);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)snprintf(line, sizeof(line), "rm -rf %s", dir);
    slurm_cluster_shell(line);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int slurm_cluster_try(struct arena *arena, const char *const *words, const char **text,
                      struct err *err)
{
    const struct slurm_child_place place = {.bin = "", .conf = "", .within_ms = 60000};
    return slurm_child_run(&place, words, arena, text, err);
}

void slurm_cluster_shell(const char *line)
{
    int status = system(line);
    if (status != 0) {
        fail_msg("%s: status %d", line, status);
    }
}
