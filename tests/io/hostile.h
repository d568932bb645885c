/* SPDX-License-Identifier: Apache-2.0 */
/* hostile.h: a real sublet-broker, and peers that say what they like to it.
 *
 * Members: north and east (provider, consumer), south (consumer), ops (admin). A voice
 * is a raw socket of one of them, or of nobody; what is sent is sent as it is. */
#ifndef SUBLET_TESTS_IO_HOSTILE_H
#define SUBLET_TESTS_IO_HOSTILE_H

#include <czmq.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "model/msg.h"
#include "tests/io/run_fixture.h"

struct hostile {
    struct run_fixture fixture;
    char endpoint[64];
    int port;
    pid_t broker;
    struct arena arena; /* of what was received; cleared by hostile_clear */
};

void hostile_init(struct hostile *hostile);
void hostile_release(struct hostile *hostile);
void hostile_clear(struct hostile *hostile);

/* Starts it, with all members but `without` ("": with all), and waits until it serves.
 */
void hostile_start(struct hostile *hostile, const char *without);
void hostile_kill(struct hostile *hostile);

/* A socket with that member's key ("stranger": a key of its own, "": none). `identity`
 * NULL: libzmq chooses. */
zsock_t *hostile_voice(const struct hostile *hostile, const char *name,
                       const char *identity);
/* One that takes in two messages, and no more until it is read. */
zsock_t *hostile_deaf_voice(const struct hostile *hostile, const char *name);
/* One that does not come back where its connection ends. */
zsock_t *hostile_brief_voice(const struct hostile *hostile, const char *name);
/* Waits until it has opened that session. */
void hostile_hello(struct hostile *hostile, zsock_t *voice, const char *name,
                   uint64_t session);

void hostile_say(zsock_t *voice, const struct msg *msg);
void hostile_say_bytes(zsock_t *voice, const void *bytes, size_t size);
/* Reads all that has arrived, and drops it: libzmq notices the end of a connection only
 * where it reads. */
void hostile_skip_answers(zsock_t *voice);
/* A process that says `n_messages` of so many frames of so many bytes with that
 * member's key, and waits so long for one answer: 1 where it was answered, 0 where not,
 * -1 where it died. Where a connection ends within such a message, often the sender's
 * own libzmq aborts (session_base.cpp, EAGAIN; libzmq issue 3442): that is not to be
 * the test's end. */
int hostile_flood(const struct hostile *hostile, const char *name, int n_messages,
                  int n_frames, size_t size, int patience_ms);
/* The next message; false where none comes in time. */
bool hostile_hear(struct hostile *hostile, zsock_t *voice, struct msg *msg,
                  int timeout_ms);
/* The next message of that kind; what else comes is dropped. */
bool hostile_hear_kind(struct hostile *hostile, zsock_t *voice, enum msg_kind kind,
                       struct msg *msg);

/* A member on a connection of its own asks and is answered. */
bool hostile_is_served(struct hostile *hostile);

/* VmRSS and the like of the broker, in MiB, and its open descriptors. */
int hostile_memory_mib(const struct hostile *hostile, const char *field);
int hostile_count_descriptors(const struct hostile *hostile);

#endif
