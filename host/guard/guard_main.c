/* SPDX-License-Identifier: Apache-2.0 */
/* guard_main.c: sublet-guard: the small process that outlives everything around a run.
 *
 *     sublet-guard DIRECTORY            guards the run in it to its end
 *     sublet-guard --bury DIRECTORY     ends a run whose guard was killed
 *     sublet-guard --remove DIRECTORY   deletes a forgotten run's directory
 *     sublet-guard --nursery DIRECTORY  forks guards of runs in it, as they are asked
 * for
 *
 * Started by sublet-host, which may give a connection as descriptor 3. DIRECTORY is
 * absolute. There is one per running job: libc only. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/guard/forkserver.h"
#include "host/guard/guard_loop.h"
#include "host/guard/guard_reap.h"
#include "host/guard/guard_remove.h"
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
