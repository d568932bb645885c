/* SPDX-License-Identifier: Apache-2.0 */
/* guard_main.c: sublet-guard, the small process that guards one run and outlives its
 * agent.
 *
 *     sublet-guard DIRECTORY            guards the run in it to its end
 *     sublet-guard --bury DIRECTORY     reaps a run whose guard was killed
 *     sublet-guard --remove DIRECTORY   deletes the directory of a forgotten run
 *     sublet-guard --nursery DIRECTORY  forks guards of runs in it
 *     sublet-guard --version            prints the version
 *
 * sublet-host starts it and may pass a connection as descriptor 3. The names of options
 * stay: an agent of an earlier version may still run after an upgrade. DIRECTORY is
 * absolute. There is one guard for each running job, so it uses libc only. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/guard/guard.h"
#include "host/run_dir/run_dir.h"

static int take_agent(void)
{
    int type = 0;
    socklen_t size = sizeof(type);
    int agent = -1;
    if (getsockopt(RUN_DIR_AGENT_FD_AT_START, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET) {
        agent = fcntl(RUN_DIR_AGENT_FD_AT_START, F_DUPFD_CLOEXEC, RUN_DIR_AGENT_FD);
    }
    close_range(RUN_DIR_AGENT_FD_AT_START, RUN_DIR_AGENT_FD - 1, 0);
    close_range(agent < RUN_DIR_AGENT_FD ? RUN_DIR_AGENT_FD : (unsigned)agent + 1, ~0U,
                0);
    return agent;
}

int main(int argc, char **argv)
{
    umask(0);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("sublet-guard " SUBLET_VERSION);
        return 0;
    }
    if (argc == 2 && argv[1][0] == '/') {
        return guard_loop_main(argv[1], take_agent());
    }
    if (argc == 3 && argv[2][0] == '/' && strcmp(argv[1], "--bury") == 0) {
        return guard_reap_main(argv[2], take_agent());
    }
    if (argc == 3 && argv[2][0] == '/' && strcmp(argv[1], "--remove") == 0) {
        return guard_remove_main(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "--nursery") == 0) {
        return forkserver_main(take_agent());
    }
    fprintf(stderr, "usage: sublet-guard [--bury | --remove | --nursery] DIRECTORY\n"
                    "sublet-host starts it; it is of no use by hand\n");
    return 2;
}
