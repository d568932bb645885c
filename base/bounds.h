/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h: every bound on what peers, users and files may say, with its reason.
 *
 * Units: bytes and counts. Layer: base. */
#ifndef SUBLET_BASE_BOUNDS_H
#define SUBLET_BASE_BOUNDS_H

enum {
    /* Names of sites, hosts, queues, users, policies: what LSF allows, and short
     * enough that a lease id (three of them) fits one line. With the NUL. */
    NAME_SIZE = 64,
    HOST_NAME_SIZE = 132,  /* "host@site" */
    LEASE_ID_SIZE = 200,   /* "provider/policy/consumer" */
    REASON_SIZE = 160,     /* a reason as a person reads it */
    TEXT_MAX = 4096,       /* a path, a file name, one line of talk */
    COMMAND_MAX = 65536,   /* a job's command line: what sh -c takes with ease */
    ENV_MAX = 1024,        /* variables of a job */
    ENV_BYTES_MAX = 98304, /* all of them together; with the command below a frame */
    RES_REQ_MAX = 4096,    /* one requirement string: LSF's own are below 1,000 */
    RES_REQS_MAX = 256,    /* -R of one job: wrappers add a few each */
    RES_REQS_BYTES_MAX = 8192,   /* of one job together: judged below a millisecond */
    JOB_RLIMITS_MAX = 32,        /* of one job: more than there are kinds */
    JOB_RLIMIT_TEXT_SIZE = 64,   /* "mem=1048576" and its like */
    EXEC_COMMANDS_MAX = 8,       /* before a job, and after it: queue, application */
    EXEC_BYTES_MAX = 16384,      /* of them together; so that a frame holds it all */
    JOBS_PER_COMMAND_MAX = 1000, /* jobs that one kill, stop, resume names */

    FRAME_MAX = 262144,         /* one message; libzmq drops the peer above it */
    FRAMES_MAX = 4,             /* frames of one message; more are read and dropped */
    DECODE_BYTES_MAX = 4 << 20, /* memory that decoding one message may take */
    DECODE_ALLOCS_MAX = 50000,
    HOSTS_MAX = 10000,               /* hosts of a site, and of a lease */
    SLOTS_MAX = 100000,              /* slots of one host */
    SPACE_MAX_MIB = 1000000000,      /* memory or swap space of one host */
    LEASE_RESOURCES_MAX = 100,       /* shared resources of a lease, pool by pool */
    RESOURCE_HOSTS_SIZE = 65536,     /* names of the hosts that see one */
    INSTANCES_MAX = 1000000000,      /* of a shared resource */
    LEASES_MAX = 100000,             /* leases of a federation */
    LEASES_PER_PROVIDER_MAX = 10000, /* one a host; so that none crowds others out */
    LEASE_HOSTS_PER_PROVIDER_MAX = 100000, /* of all leases of a provider: each host in
                                              ten of them */
    MEMBERS_MAX = 10000,
    QUEUES_MAX = 1000,
    PLAN_NODES_MAX = 100000, /* of all pools, in one time window */
    PLAN_WINDOWS_MAX = 48,   /* of a pool: each half hour */
    RECALLS_MAX = 16,   /* open recalls of one contract: a grace of some cycles; what
                           comes   on top joins the last of them */
    JOBS_MAX = 1000000, /* unfinished jobs of a site */
    JOB_INDEX_MAX = 999999,   /* of a job array: MAX_JOB_ARRAY_SIZE at most */
    OUTPUT_CHUNK_MAX = 65536, /* one piece of a job's output */
    STREAM_CHUNK_MAX = 16384, /* of an interactive job's input or output in a message */
    STREAM_WINDOW = 65536,    /* of it on the way, each stream: a pipe's worth */
    STREAM_RELAYED_PER_S = 4 << 20, /* of one on a borrowed host: its broker has others
                                       to serve (broker/member/streams.h) */
    TERMINAL_SIZE_MAX = 10000,      /* rows, or columns */
    PAGE_ROWS_MAX = 500,            /* rows of one answer; a page stays below a frame */
    WAITERS_MAX = 4096,             /* clients that wait, peek or ask at one time */
    LOAD_VALUES_MAX = 320, /* what a host tells of itself: LSF's 256 external indices,
                              its own, and its resources */
    RUN_LOADS_MAX = 1000,  /* runs that one HOST_LOAD tells of */
    LEASE_LOAD_HOSTS_MAX = 500, /* of one LEASE_LOAD: as many as fit a frame */
    LOAD_VALUE_SIZE = 128,      /* one of them, as text; with the NUL */
};

#endif
