/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h: the bounds of all input from peers, users and files, with their reasons.
 *
 * Units: bytes and counts. Layer: base. */
#ifndef SUBLET_BASE_BOUNDS_H
#define SUBLET_BASE_BOUNDS_H

#include <stdint.h>

enum {
    /* Names of sites, hosts, queues, users, policies, with the NUL: as in LSF, and
       short enough that a lease id (three names) fits one line. */
    NAME_SIZE = 64,
    HOST_NAME_SIZE = 132,  /* "host@site" */
    LEASE_ID_SIZE = 200,   /* "provider/policy/consumer" */
    JOB_GROUP_SIZE = 513,  /* the path of a job group: LSF's 512 */
    REASON_SIZE = 160,     /* a reason shown to users */
    TEXT_MAX = 4096,       /* a path, a file name, a line of text */
    COMMAND_MAX = 65536,   /* a job's command line */
    ENV_MAX = 1024,        /* variables of a job */
    KILL_REASON_MAX = 200, /* why a user ends a job */
    ENV_BYTES_MAX = 98304, /* in total; with the command less than a frame */
    RES_REQ_MAX = 4096,    /* one requirement string; typical ones are below 1,000 */
    RES_REQS_MAX = 256,    /* -R options of one job; wrappers add some */
    RES_REQS_BYTES_MAX = 8192, /* of one job in total: evaluated within a millisecond */
    JOB_RLIMITS_MAX = 32,      /* of one job; more than there are kinds */
    JOB_RLIMIT_TEXT_SIZE = 192, /* "mem=1048576", "cpu=60000/host" */
    EXEC_COMMANDS_MAX =
        8, /* pre-execution or post-execution, of queue and application */
    EXEC_BYTES_MAX = 16384,      /* in total, so that a frame can hold them */
    JOBS_PER_COMMAND_MAX = 1000, /* named by one kill, stop, resume */

    FRAME_MAX = 262144,          /* one message; libzmq drops the peer above it */
    FRAMES_MAX = 4,              /* of one message; further frames are dropped */
    DECODE_BYTES_MAX = 4 << 20,  /* memory for the lists of one decoded message */
    HOSTS_MAX = 10000,           /* hosts of a site, and of a lease */
    SLOTS_MAX = 100000,          /* slots of one host */
    HOURS_MAX = 1000000000,      /* slot hours a month */
    PRICE_MAX = 100000,          /* credits for a slot hour */
    SPACE_MAX_MIB = 1000000000,  /* memory or swap space of one host */
    LEASE_RESOURCES_MAX = 100,   /* shared resources of a lease */
    RESOURCE_HOSTS_SIZE = 65536, /* names of the hosts that can use one */
    INSTANCES_MAX = 1000000000,  /* of a shared resource */
    LEASES_MAX = 100000,         /* leases of a federation */
    LEASES_PER_PROVIDER_MAX =
        10000, /* one per host, so that no provider uses up LEASES_MAX */
    LEASE_HOSTS_PER_PROVIDER_MAX =
        100000, /* of all leases of a provider: each host in ten leases */
    MEMBERS_MAX = 10000,
    QUEUES_MAX = 1000,
    PLAN_NODES_MAX = 100000, /* of all pools, in one time window */
    PLAN_WINDOWS_MAX = 48,   /* of a pool: one per half hour */
    RECALLS_MAX = 16,   /* open recalls of one contract; further slots are added to the
                           last recall */
    JOBS_MAX = 1000000, /* unfinished jobs of a site */
    JOB_INDEX_MAX = 999999,   /* upper bound of MAX_JOB_ARRAY_SIZE */
    OUTPUT_CHUNK_MAX = 65536, /* one piece of a job's output */
    STREAM_CHUNK_MAX = 16384, /* of an interactive job's input or output in a message */
    STREAM_WINDOW = 65536, /* unacknowledged bytes of each stream; the size of a pipe */
    STREAM_RELAYED_PER_S = 4 << 20, /* of a stream on a borrowed host; bounds the load
                                       of the broker (broker/member/streams.h) */
    TERMINAL_SIZE_MAX = 10000,      /* rows, or columns */
    PAGE_ROWS_MAX = 500,            /* rows of one answer, which must fit a frame */
    WAITERS_MAX = 4096,             /* concurrent clients that wait, peek or query */
    LOAD_VALUES_MAX = 320, /* values that a host reports: LSF's 256 external indices,
                              built-in indices, and resources */
    RUN_LOADS_MAX = 1000,  /* runs in one HOST_LOAD */
    RUN_THREADS_MAX = 10000000, /* of a run, as reported; Linux has 4,194,304 pids */
    LEASE_LOAD_HOSTS_MAX = 500, /* hosts in one LEASE_LOAD, which must fit a frame */
    LOAD_VALUE_SIZE = 128,      /* one value as text, with the NUL */
};

/* An epoch, or a number of attempts, jobs or commits, is never raised above this by
 * what another says, so that no peer uses up the numbers: as many are left for own use,
 * and all are exact in JSON. */
#define TOLD_NUMBER_MAX (INT64_C(1) << 52)

#endif
