/* SPDX-License-Identifier: Apache-2.0 */
/* wire_queue.c: see wire_queue.h. */
#include "sys/wire/wire_queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "sys/daemon.h"
#define uthash_fatal(msg) abort()
#include <uthash.h>
#include <utlist.h>

enum {
    QUEUE_MESSAGES_MAX = 20000, /* of one sender: all leases of a provider, twice */
    QUEUE_BYTES_MAX = 8 << 20,
    TOTAL_BYTES_MAX = 256 << 20,
    SENDERS_MAX = 20000, /* as many as connections (wire_links.c) */
    /* Of a batch. The first message waits that long for the commit, and what is due for
     * the end of the batch. */
    BATCH_US = 20000,
    /* Of senders that have used up their time, while nobody else waits. */
    IDLE_US = 250,
    BATCH_BYTES = 1 << 20,
    /* Of a message, and of all since the processor time was read: the monotonic clock
     * is read in a tenth of the time, and is near enough. */
    SHORT_MESSAGE_US = 100,
    CPU_CLOCK_EVERY_US = 1000,
};

struct sender {
    char name[WIRE_QUEUE_SENDER_SIZE];
    bool is_trusted;
    bool is_newly_out;
    bool is_slow; /* its last message took longer than RATE_LIMIT_SHORT_US, or has
                     caused more work than a batch takes: a large plan is computed */
    struct rate_limit rate_limit;
    uint64_t n_dropped;
    struct wire_queue_entry *first, **last;
    int n_messages;
    size_t n_bytes;
    UT_hash_handle hh;          /* in the order of their first message */
    struct sender *prev, *next; /* in turns: those that have messages */
};

struct wire_queue {
    struct sender *senders;
    struct sender *turns; /* the first is next */
    int n_turns;
    size_t n_bytes;
    int n_newly_out;
    struct sender *current; /* whose message is delivered; NULL: it was removed */
    int64_t charged_us;     /* for that message */
};

struct wire_queue *wire_queue_new(void)
{
    return mem_alloc(1, sizeof(struct wire_queue));
}

/* ---------------------------------------------------------------- senders */

static struct sender *find(const struct wire_queue *queue, const char *name)
{
    struct sender *sender;
    HASH_FIND_STR(queue->senders, name, sender);
    return sender;
}

static void leave_turns(struct wire_queue *queue, struct sender *sender)
{
    DL_DELETE(queue->turns, sender);
    queue->n_turns--;
}

static struct wire_queue_entry *take_first(struct wire_queue *queue,
                                           struct sender *sender)
{
    struct wire_queue_entry *entry = sender->first;
    sender->first = entry->next;
    if (sender->first == NULL) {
        sender->last = &sender->first;
        leave_turns(queue, sender);
    }
    sender->n_messages--;
    sender->n_bytes -= entry->n_bytes;
    queue->n_bytes -= entry->n_bytes;
    return entry;
}

static void drop(struct wire_queue *queue, struct sender *sender)
{
    while (sender->first != NULL) {
        free(take_first(queue, sender));
    }
    if (queue->current == sender) {
        queue->current = NULL;
    }
    queue->n_newly_out -= sender->is_newly_out;
    HASH_DEL(queue->senders, sender);
    free(sender);
}

/* Of the senders that have nothing waiting, the one that was added first. */
static void make_room(struct wire_queue *queue)
{
    struct sender *sender, *next;
    if (HASH_COUNT(queue->senders) < SENDERS_MAX) {
        return;
    }
    HASH_ITER (hh, queue->senders, sender, next) {
        if (sender->first == NULL && sender != queue->current) {
            drop(queue, sender);
            return;
        }
    }
}

static struct sender *find_or_add(struct wire_queue *queue, const char *name,
                                  bool is_trusted)
{
    struct sender *sender = find(queue, name);
    if (sender == NULL) {
        make_room(queue);
        sender = mem_alloc(1, sizeof(*sender));
        memcpy(sender->name, name, strnlen(name, sizeof(sender->name) - 1));
        sender->last = &sender->first;
        rate_limit_init(&sender->rate_limit, RATE_LIMIT_WORK_PER_S,
                        RATE_LIMIT_WORK_MOST);
        HASH_ADD_STR(queue->senders, name, sender);
    }
    sender->is_trusted = is_trusted;
    return sender;
}

void wire_queue_free(struct wire_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    while (queue->senders != NULL) {
        drop(queue, queue->senders);
    }
    free(queue);
}

void wire_queue_remove(struct wire_queue *queue, const char *name)
{
    struct sender *sender = find(queue, name);
    if (sender != NULL) {
        drop(queue, sender);
    }
}

/* ---------------------------------------------------------------- messages in */

static void refuse(struct wire_queue *queue, struct sender *sender, int64_t now_ms)
{
    if (!sender->is_trusted && rate_limit_refuse(&sender->rate_limit, now_ms)) {
        queue->n_newly_out += !sender->is_newly_out;
        sender->is_newly_out = true;
    }
}

static bool has_room(const struct wire_queue *queue, const struct sender *sender,
                     size_t n_bytes)
{
    if (sender->is_trusted) {
        return queue->n_bytes + n_bytes <= TOTAL_BYTES_MAX;
    }
    size_t share = TOTAL_BYTES_MAX / (size_t)(queue->n_turns + 1);
    size_t most = share < QUEUE_BYTES_MAX ? share : QUEUE_BYTES_MAX;
    return sender->first == NULL || (sender->n_messages < QUEUE_MESSAGES_MAX &&
                                     sender->n_bytes + n_bytes <= most &&
                                     queue->n_bytes + n_bytes <= TOTAL_BYTES_MAX);
}

bool wire_queue_put(struct wire_queue *queue, const char *name, bool is_trusted,
                    const struct peer *from, const void *bytes, size_t n_bytes,
                    int64_t now_ms)
{
    struct sender *sender = find_or_add(queue, name, is_trusted);
    if (rate_limit_is_out(&sender->rate_limit, now_ms) ||
        !has_room(queue, sender, n_bytes)) {
        sender->n_dropped++;
        refuse(queue, sender, now_ms);
        return false;
    }
    struct wire_queue_entry *entry = malloc(sizeof(*entry) + n_bytes);
    if (entry == NULL) {
        abort();
    }
    entry->from = *from;
    entry->from.name = NULL;
    entry->sender = sender->name;
    entry->next = NULL;
    entry->n_bytes = n_bytes;
    memcpy(entry->bytes, bytes, n_bytes);
    if (sender->first == NULL) {
        DL_APPEND(queue->turns, sender);
        queue->n_turns++;
    }
    *sender->last = entry;
    sender->last = &entry->next;
    sender->n_messages++;
    sender->n_bytes += n_bytes;
    queue->n_bytes += n_bytes;
    return true;
}

/* ---------------------------------------------------------------- messages out */

static bool may_work(struct sender *sender, int64_t now_ms)
{
    return sender->is_trusted || rate_limit_may_work(&sender->rate_limit, now_ms);
}

/* Idle time is for short messages: another sender's would wait for the end of a long
 * one. */
static bool has_turn(struct sender *sender, bool is_idle, int64_t now_ms)
{
    return may_work(sender, now_ms) || (is_idle && !sender->is_slow);
}

/* The sender whose turn it is goes behind the others. `is_idle`: of those that have
 * used up their time. */
static struct wire_queue_entry *begin(struct wire_queue *queue, bool is_idle,
                                      int64_t now_ms)
{
    struct sender *sender;
    DL_FOREACH (queue->turns, sender) {
        if (has_turn(sender, is_idle, now_ms)) {
            struct wire_queue_entry *entry = take_first(queue, sender);
            if (sender->first != NULL) {
                DL_DELETE(queue->turns, sender);
                DL_APPEND(queue->turns, sender);
            }
            queue->current = sender;
            queue->charged_us = 0;
            return entry;
        }
    }
    return NULL;
}

/* How long this thread has worked: what others do on the machine is not the sender's
 * fault. */
struct stopwatch {
    int64_t monotonic_us;
    int64_t cpu_us, since_us; /* the last reading, and what was counted since */
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static struct stopwatch start(void)
{
    return (struct stopwatch){.monotonic_us = read_clock(CLOCK_MONOTONIC),
                              .cpu_us = read_clock(CLOCK_THREAD_CPUTIME_ID)};
}

/* Since the last lap. */
static int64_t lap(struct stopwatch *watch)
{
    int64_t monotonic_us = read_clock(CLOCK_MONOTONIC),
            us = monotonic_us - watch->monotonic_us;
    watch->monotonic_us = monotonic_us;
    if (us > SHORT_MESSAGE_US || watch->since_us + us > CPU_CLOCK_EVERY_US) {
        int64_t cpu_us = read_clock(CLOCK_THREAD_CPUTIME_ID);
        int64_t used_us = cpu_us - watch->cpu_us - watch->since_us;
        us = used_us < 0 ? 0 : used_us < us ? used_us : us;
        watch->cpu_us = cpu_us;
        watch->since_us = 0;
    } else {
        watch->since_us += us;
    }
    return us;
}

/* `us`: how long the message was handled. */
static void charge(struct wire_queue *queue, bool is_idle, int64_t us)
{
    struct sender *sender = queue->current;
    if (sender == NULL) {
        return;
    }
    sender->is_slow = us > RATE_LIMIT_SHORT_US || queue->charged_us > BATCH_US;
    if (is_idle && !sender->is_slow) {
        rate_limit_take_idle(&sender->rate_limit, us + queue->charged_us);
    } else {
        rate_limit_take_message(&sender->rate_limit, us, queue->charged_us);
    }
    queue->current = NULL;
}

static int serve(struct wire_queue *queue, bool is_idle, int max,
                 wire_queue_deliver_fn deliver, void *arg)
{
    struct wire_queue_entry *entry;
    int count = 0;
    int64_t work_us = 0, most_us = is_idle ? IDLE_US : BATCH_US;
    size_t n_bytes = 0;
    int64_t now_ms = daemon_now_ms();
    struct stopwatch watch = start();
    while (count < max && work_us < most_us && n_bytes < BATCH_BYTES &&
           (entry = begin(queue, is_idle, now_ms)) != NULL) {
        count++;
        n_bytes += entry->n_bytes;
        wire_queue_charge(queue,
                          (int64_t)entry->n_bytes * RATE_LIMIT_US_PER_KIB / 1024);
        deliver(arg, entry);
        int64_t us = lap(&watch);
        work_us += us + queue->charged_us;
        charge(queue, is_idle, us);
        free(entry);
    }
    return count;
}

/* Time that nobody else wants costs nothing, so that one busy site has the whole
 * broker. */
int wire_queue_serve(struct wire_queue *queue, int max, wire_queue_deliver_fn deliver,
                     void *arg)
{
    int count = serve(queue, false, max, deliver, arg);
    return count > 0 ? count : serve(queue, true, max, deliver, arg);
}

void wire_queue_charge(struct wire_queue *queue, int64_t work_us)
{
    queue->charged_us += work_us;
}

void wire_queue_charge_late(struct wire_queue *queue, const char *name, int64_t work_us)
{
    struct sender *sender = find(queue, name);
    if (sender != NULL) {
        rate_limit_take_work(&sender->rate_limit, work_us);
    }
}

int64_t wire_queue_ready_ms(struct wire_queue *queue, int64_t now_ms)
{
    struct sender *sender;
    int64_t ready_ms = INT64_MAX;
    DL_FOREACH (queue->turns, sender) {
        if (has_turn(sender, true, now_ms)) {
            return 0;
        }
        int64_t at_ms = rate_limit_ready_ms(&sender->rate_limit);
        ready_ms = at_ms < ready_ms ? at_ms : ready_ms;
    }
    return ready_ms;
}

/* ---------------------------------------------------------------- refusals */

bool wire_queue_refuse(struct wire_queue *queue, const char *name, int64_t now_ms)
{
    struct sender *sender = find(queue, name);
    if (sender == NULL) {
        return false;
    }
    refuse(queue, sender, now_ms);
    return sender->is_newly_out;
}

const char *wire_queue_take_out(struct wire_queue *queue)
{
    if (queue->n_newly_out == 0) {
        return NULL;
    }
    for (struct sender *sender = queue->senders; sender != NULL;
         sender = sender->hh.next) {
        if (sender->is_newly_out) {
            sender->is_newly_out = false;
            queue->n_newly_out--;
            while (sender->first != NULL) {
                free(take_first(queue, sender));
            }
            return sender->name;
        }
    }
    return NULL;
}

bool wire_queue_is_out(struct wire_queue *queue, const char *name, int64_t now_ms)
{
    struct sender *sender = find(queue, name);
    return sender != NULL && rate_limit_is_out(&sender->rate_limit, now_ms);
}

const struct rate_limit *wire_queue_rate_limit(const struct wire_queue *queue,
                                               const char *name)
{
    const struct sender *sender = find(queue, name);
    return sender != NULL ? &sender->rate_limit : NULL;
}

uint64_t wire_queue_count_dropped(const struct wire_queue *queue, const char *name)
{
    const struct sender *sender = find(queue, name);
    return sender != NULL ? sender->n_dropped : 0;
}

size_t wire_queue_count_bytes(const struct wire_queue *queue)
{
    return queue->n_bytes;
}
