/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: see machine.h. */
#include "tests/fuzz/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec_relay.h"
#include "sim/world/disk.h"

enum {
    STEPS_MAX = 600,
    TICKS_MAX = 300,  /* at one instant; more are taken for an endless loop */
    ANSWERS_MAX = 16, /* messages that an honest peer may still answer */
    SHORT_MS_MAX = 10000,
};

struct machine {
    const struct machine_role *role;
    void *self;
    int64_t now_ms;
    struct disk *disk;
    struct effects effects;
    struct arena arena; /* of one op */
    struct invariants *invariants;
    struct said said;
    /* The latest messages that may be answered, encoded, since effects are freed. */
    struct {
        uint8_t *bytes;
        size_t length;
        struct peer to;
        char name[NAME_SIZE];
    } sent[ANSWERS_MAX];
    unsigned n_sent;
};

/* ---------------------------------------------------------------- batches */

static void record_sent(struct machine *machine, const struct effect *effect)
{
    const struct msg *msg = &effect->send.msg;
    unsigned place = machine->n_sent++ % ANSWERS_MAX;
    uint8_t *bytes;
    size_t length;
    struct err err;
    if (codec_encode(msg, &bytes, &length, &err) < 0) {
        input_fail("%s is sent and cannot be encoded: %s", msg_kind_name(msg->kind),
                   err.text);
    }
    free(machine->sent[place].bytes);
    machine->sent[place].bytes = bytes;
    machine->sent[place].length = length;
    machine->sent[place].to = effect->send.to;
    char *name = machine->sent[place].name;
    const char *to = effect->send.to.name != NULL ? effect->send.to.name : "";
    memcpy(name, to, strnlen(to, NAME_SIZE - 1) + 1);
    name[NAME_SIZE - 1] = '\0';
    machine->sent[place].to.name = name;
    said_hear(&machine->said, msg);
    if (msg->kind == MSG_CONTRACT) {
        invariants_contract_sent(machine->invariants, msg->contract.lease,
                                 msg->contract.epoch);
    }
}

static void commit_row(struct machine *machine, const struct row *row)
{
    struct invariants_view view = {0};
    char buffer[512];
    struct invariants_text text = {buffer, sizeof(buffer)};
    disk_store(machine->disk, row);
    machine->role->view(machine->self, &view);
    if (view.n_sites > 0 &&
        !invariant_job_stored(machine->invariants, view.sites[0].config, row,
                              machine->now_ms, &text)) {
        input_fail("%s", buffer);
    }
}

/* Commits, then sends. */
static void finish_batch(struct machine *machine)
{
    for (int i = 0; i < machine->effects.count; i++) {
        if (machine->effects.items[i].kind == EFFECT_STORE) {
            commit_row(machine, &machine->effects.items[i].row);
        }
    }
    for (int i = 0; i < machine->effects.count; i++) {
        if (machine->effects.items[i].kind == EFFECT_SEND) {
            record_sent(machine, &machine->effects.items[i]);
        }
    }
    effects_clear(&machine->effects);
}

static void check(struct machine *machine)
{
    struct invariants_view view = {0};
    char buffer[512];
    struct invariants_text text = {buffer, sizeof(buffer)};
    machine->role->view(machine->self, &view);
    bool holds =
        view.n_sites > 0
            ? invariants_check_site(machine->invariants, &view.sites[0], false, &text)
            : invariants_check_broker(machine->invariants, &view, INT64_MAX,
                                      machine->now_ms, &text);
    if (!holds) {
        input_fail("%s", buffer);
    }
}

static void tick(struct machine *machine)
{
    struct event event = {.kind = EVENT_TICK, .now_ms = machine->now_ms};
    machine->role->step(machine->self, &event, &machine->effects);
}

static void take_event(struct machine *machine, const struct event *event)
{
    machine->role->step(machine->self, event, &machine->effects);
    tick(machine);
    finish_batch(machine);
    check(machine);
}

/* Runs all due ticks, which must end. */
static void pass_time(struct machine *machine, int64_t now_ms)
{
    machine->now_ms = now_ms;
    int n_ticks = 0;
    do {
        tick(machine);
        finish_batch(machine);
    } while (machine->role->wake_ms(machine->self) <= now_ms && ++n_ticks < TICKS_MAX);
    if (n_ticks == TICKS_MAX) {
        input_fail("due at %" PRId64 " after %d ticks at that instant", now_ms,
                   n_ticks);
    }
    check(machine);
}

/* ---------------------------------------------------------------- restarts */

static void load_row(void *arg, const struct row *row)
{
    struct machine *machine = arg;
    machine->role->load(machine->self, row);
}

static void start(struct machine *machine)
{
    machine->self = machine->role->create();
    disk_load(machine->disk, load_row, machine);
    machine->role->start(machine->self, machine->now_ms, &machine->effects);
    finish_batch(machine);
}

/* What was not committed is lost. */
static void crash(struct machine *machine)
{
    effects_clear(&machine->effects);
    machine->role->destroy(machine->self);
    start(machine);
    check(machine);
}

static void restart(struct machine *machine)
{
    const char *before = machine->role->describe(machine->self, &machine->arena);
    crash(machine);
    const char *after = machine->role->describe(machine->self, &machine->arena);
    if (strcmp(before, after) != 0) {
        input_fail("a restart finds\n%sinstead of\n%s", after, before);
    }
}

/* ---------------------------------------------------------------- what bytes mean */

static const struct peer *take_peer(struct machine *machine, struct input *input)
{
    return &machine->role->peers[input_byte(input) % machine->role->n_peers];
}

/* As a machine that relays gets it. */
static bool seal(struct machine *machine, struct msg *msg)
{
    uint8_t *bytes;
    size_t length;
    struct err err;
    if (machine->role->relays == NULL || !machine->role->relays(msg->kind)) {
        return true;
    }
    if (codec_encode(msg, &bytes, &length, &err) < 0) {
        return false;
    }
    int rc = codec_relay_decode(&machine->arena, bytes, length, machine->role->relays,
                                msg, &err);
    free(bytes);
    return rc == 0;
}

static bool take_said(struct machine *machine, struct input *input, struct event *event)
{
    struct msg *msg = arena_alloc(&machine->arena, 1, sizeof(*msg));
    event->kind = EVENT_MESSAGE;
    event->from = *take_peer(machine, input);
    event->msg = msg;
    return said_make(&machine->said, input, &machine->arena, msg) && seal(machine, msg);
}

static bool take_bytes(struct machine *machine, struct input *input,
                       struct event *event)
{
    struct msg *msg = arena_alloc(&machine->arena, 1, sizeof(*msg));
    struct err err;
    size_t length;
    event->kind = EVENT_MESSAGE;
    event->from = *take_peer(machine, input);
    event->msg = msg;
    const uint8_t *bytes = input_piece(input, &length);
    return codec_relay_decode(&machine->arena, bytes, length, machine->role->relays,
                              msg, &err) == 0;
}

/* One of the latest messages is answered, perhaps late or again. */
static bool take_answer(struct machine *machine, struct input *input,
                        struct event *event)
{
    struct msg heard, *msg = arena_alloc(&machine->arena, 1, sizeof(*msg));
    struct err err;
    unsigned place = (machine->n_sent - 1 - (unsigned)input_byte(input)) % ANSWERS_MAX;
    if (machine->sent[place].bytes == NULL ||
        codec_decode(&machine->arena, machine->sent[place].bytes,
                     machine->sent[place].length, &heard, &err) < 0) {
        return false;
    }
    event->kind = EVENT_MESSAGE;
    event->msg = msg;
    return machine->role->answer(&heard, &machine->sent[place].to, &machine->arena,
                                 &event->from, msg) &&
           seal(machine, msg);
}

static void take_step(struct machine *machine, struct input *input)
{
    struct event event = {.now_ms = machine->now_ms};
    bool is_event = false;
    switch (input_byte(input) % 10) {
    case 0:
    case 1:
        is_event = take_said(machine, input, &event);
        break;
    case 2:
    case 3:
        is_event = take_answer(machine, input, &event);
        break;
    case 4:
        is_event = take_bytes(machine, input, &event);
        break;
    case 5:
        pass_time(machine,
                  machine->now_ms + (int64_t)input_number(input, 2) % SHORT_MS_MAX);
        break;
    case 6: { /* until the machine is due */
        int64_t wake_ms = machine->role->wake_ms(machine->self);
        bool is_ahead = wake_ms > machine->now_ms && wake_ms != INT64_MAX;
        pass_time(machine, is_ahead ? wake_ms : machine->now_ms + 1);
        break;
    }
    case 7:
        restart(machine);
        break;
    case 8: /* a batch that ends before its commit */
        if (take_said(machine, input, &event)) {
            machine->role->step(machine->self, &event, &machine->effects);
        }
        crash(machine);
        break;
    default:
        event.kind = input_byte(input) % 2 ? EVENT_GONE : EVENT_WRITTEN;
        event.from = *take_peer(machine, input);
        event.written.job = said_number(&machine->said, input);
        event.written.error = input_byte(input) & 1;
        is_event = true;
        break;
    }
    if (is_event) {
        take_event(machine, &event);
    }
}

int machine_run(const struct machine_role *role, const uint8_t *data, size_t size)
{
    struct machine machine = {.role = role, .now_ms = 1000000};
    struct input input = {data, size};
    machine.said.words = role->words;
    machine.said.n_words = role->n_words;
    machine.disk = disk_new();
    machine.invariants = invariants_new();
    effects_init(&machine.effects);
    arena_init(&machine.arena);
    start(&machine);
    for (int i = 0; i < STEPS_MAX && !input_is_spent(&input); i++) {
        take_step(&machine, &input);
        arena_clear(&machine.arena);
        machine.now_ms++;
    }
    restart(&machine);
    for (int i = 0; i < ANSWERS_MAX; i++) {
        free(machine.sent[i].bytes);
    }
    role->destroy(machine.self);
    arena_release(&machine.arena);
    effects_release(&machine.effects);
    invariants_free(machine.invariants);
    disk_free(machine.disk);
    return 0;
}
