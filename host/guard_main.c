/* SPDX-License-Identifier: Apache-2.0 */
/* guard_main.c: sublet-guard: the small process that outlives everything around a run.
 *
 *     sublet-guard DIRECTORY            guards the run in it to its end
 *     sublet-guard --bury DIRECTORY     ends a run whose guard was killed
 *     sublet-guard --remove DIRECTORY   deletes a forgotten run's directory
 *
 * Started by sublet-host, which may give a connection as descriptor 3. DIRECTORY is
 * absolute. There is one per running job: libc only. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/guard_bury.h"
#include "host/guard_remove.h"
#include "host/guard_run.h"
#include "host/run_dir.h"

/* Descriptors are closed from the lowest when a process dies: the agent's connection is
 * put above the directory, so that the lock is gone when the agent hears of the death.
 */
enum { AGENT_FD_MIN = 16 };

static int take_agent(void)
{
    int type = 0;
    socklen_t size = sizeof(type);
    int agent = -1;
    if (getsockopt(RUN_DIR_LINK_FD, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET) {
        agent = fcntl(RUN_DIR_LINK_FD, F_DUPFD_CLOEXEC, AGENT_FD_MIN);
    }
    close_range(RUN_DIR_LINK_FD, AGENT_FD_MIN - 1, 0);
    close_range(agent < AGENT_FD_MIN ? AGENT_FD_MIN : (unsigned)agent + 1, ~0U, 0);
    return agent;
}

int main(int argc, char **argv)
{
    umask(0);
    if (argc == 2 && argv[1][0] == '/') {
        return guard_run_main(argv[1], take_agent());
    }
    if (argc == 3 && argv[2][0] == '/' && strcmp(argv[1], "--bury") == 0) {
        return guard_bury_main(argv[2], take_agent());
    }
    if (argc == 3 && argv[2][0] == '/' && strcmp(argv[1], "--remove") == 0) {
        return guard_remove_main(argv[2]);
    }
    fprintf(stderr, "usage: sublet-guard [--bury | --remove] DIRECTORY\n"
                    "sublet-host starts it; it is of no use by hand\n");
    return 2;
}
