/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c: the levels of leases, and what is booked of them. */
#include "usage/usage.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>
#include <utlist.h>

/* An owner with slots in use. */
struct user {
    struct user *next;
    struct usage_owner owner; /* one piece of memory, at owner.user */
    int n_used;
};

/* One side of a lease. */
struct level {
    char *name; /* "c lease", "p lease", "l lease" */
    enum usage_side side;
    int n_held, price;
    struct user *users; /* as they came */
    int64_t booked_ms;
    int64_t split_ms; /* when the latest split began; 0: none since the start ... */
    uint64_t epoch;   /* ... and its epoch; 0: not known */
    bool is_changed;
    UT_hash_handle hh;
};

struct split {
    struct usage_split split; /* its lease is the level's */
    struct split *prev, *next;
};

struct usage {
    struct level *levels;
    struct usage_sums *booked;
    struct split *splits; /* since usage_clear; the latest is the last */
    int64_t now_ms;       /* the latest that was told */
    struct arena scratch; /* of one call */
};

enum {
    BY_ALL = USAGE_BY_LEASE | USAGE_BY_SIDE | USAGE_BY_HOUR | USAGE_BY_USER |
             USAGE_BY_QUEUE | USAGE_BY_PROJECT | USAGE_BY_ACCOUNT,
    PREFIX = 2, /* of the lease in a level's name */
};

/* A correction goes back so far at most. */
#define CORRECTED_MS (31 * USAGE_DAY_MS)

static const struct usage_owner nobody = {"", "", "", ""};

const char *usage_side_name(enum usage_side side)
{
    return side == USAGE_PROVIDER ? "provider"
           : side == USAGE_LENT   ? "lent"
                                  : "consumer";
}

struct usage *usage_new(void)
{
    struct usage *usage = mem_alloc(1, sizeof *usage);

    usage->booked = usage_sums_new(BY_ALL);
    arena_init(&usage->scratch);
    return usage;
}

static void free_user(struct user *user)
{
    free((char *)user->owner.user);
    free(user);
}

static void drop_level(struct usage *usage, struct level *level)
{
    HASH_DEL(usage->levels, level);
    while (level->users) {
        struct user *user = level->users;

        level->users = user->next;
        free_user(user);
    }
    free(level->name);
    free(level);
}

static void drop_splits(struct usage *usage)
{
    struct split *split, *next;

    DL_FOREACH_SAFE(usage->splits, split, next)
    {
        free(split);
    }
    usage->splits = NULL;
}

void usage_free(struct usage *usage)
{
    struct level *level, *next;

    if (!usage) {
        return;
    }
    HASH_ITER (hh, usage->levels, level, next) {
        drop_level(usage, level);
    }
    drop_splits(usage);
    usage_sums_free(usage->booked);
    arena_release(&usage->scratch);
    free(usage);
}

/* ---- booking */

/* The instant to book until. */
static int64_t see_clock(struct usage *usage, int64_t now_ms)
{
    bool is_repeated =
        now_ms < usage->now_ms && usage->now_ms - now_ms <= USAGE_HOUR_MS;

    usage->now_ms = is_repeated ? usage->now_ms : now_ms;
    return usage->now_ms;
}

/* Books `past_ms` from `start_ms` on, all in one hour. */
static void book_in_hour(struct usage *usage, const struct level *level,
                         int64_t start_ms, int64_t past_ms)
{
    int n_idle = level->n_held;
    struct usage_row row = {
        .lease = level->name + PREFIX, .side = level->side, .start_ms = start_ms};

    for (const struct user *user = level->users; user; user = user->next) {
        row.owner = user->owner;
        row.held_ms = row.used_ms = user->n_used * past_ms;
        row.cost_ms = row.used_ms * level->price;
        usage_sums_add(usage->booked, &row);
        n_idle -= user->n_used;
    }
    if (n_idle != 0) {
        row.owner = nobody;
        row.used_ms = row.cost_ms = 0;
        row.held_ms = row.idle_ms = n_idle * past_ms;
        usage_sums_add(usage->booked, &row);
    }
}

static void book_level(struct usage *usage, struct level *level, int64_t now_ms)
{
    if (level->booked_ms > now_ms) {
        level->booked_ms = now_ms; /* the clock was wrong until now */
        level->is_changed = true;
    }
    while (level->booked_ms < now_ms) {
        int64_t start_ms = level->booked_ms;
        int64_t next_ms = start_ms - start_ms % USAGE_HOUR_MS + USAGE_HOUR_MS;

        level->booked_ms = next_ms < now_ms ? next_ms : now_ms;
        level->is_changed = true;
        book_in_hour(usage, level, start_ms, level->booked_ms - start_ms);
    }
}

/* With a split, it is known when it changed last. */
static bool is_empty(const struct level *level)
{
    return level->n_held == 0 && !level->users && level->price == 0 &&
           level->split_ms == 0;
}

void usage_book(struct usage *usage, int64_t now_ms)
{
    struct level *level, *next;
    int64_t until_ms = see_clock(usage, now_ms);

    HASH_ITER (hh, usage->levels, level, next) {
        book_level(usage, level, until_ms);
    }
}

void usage_each(struct usage *usage, usage_row_fn fn, void *arg)
{
    usage_sums_each(usage->booked, fn, arg);
}

void usage_clear(struct usage *usage)
{
    struct level *level, *next;

    drop_splits(usage);
    usage_sums_free(usage->booked);
    usage->booked = usage_sums_new(BY_ALL);
    HASH_ITER (hh, usage->levels, level, next) {
        level->is_changed = false;
        if (is_empty(level)) {
            drop_level(usage, level);
        }
    }
}

/* ---- levels */

static struct level *see_level(struct usage *usage, const char *lease,
                               enum usage_side side)
{
    const char *name =
        arena_printf(&usage->scratch, "%c %s", usage_side_name(side)[0], lease);
    size_t size = strlen(name) + 1;
    struct level *level;

    HASH_FIND_STR(usage->levels, name, level);
    if (!level) {
        level = mem_alloc(1, sizeof *level);
        level->name = memcpy(mem_alloc(size, 1), name, size);
        level->side = side;
        level->booked_ms = usage->now_ms;
        HASH_ADD_KEYPTR(hh, usage->levels, level->name, size - 1, level);
    }
    arena_clear(&usage->scratch);
    return level;
}

int64_t usage_clock(struct usage *usage, int64_t now_ms)
{
    return see_clock(usage, now_ms);
}

/* So many slots more in that time: of the owner, who used them, or (NULL) of the side,
 * where they were idle. */
static void correct(struct usage *usage, const struct level *level,
                    const struct usage_owner *owner, int n_slots, int64_t from_ms,
                    int64_t to_ms)
{
    while (from_ms < to_ms) {
        int64_t next_ms = from_ms - from_ms % USAGE_HOUR_MS + USAGE_HOUR_MS;
        int64_t end_ms = next_ms < to_ms ? next_ms : to_ms;
        int64_t slot_ms = n_slots * (end_ms - from_ms);
        int64_t idle_ms = owner ? -slot_ms : slot_ms;
        struct usage_row row = {
            .lease = level->name + PREFIX, .side = level->side, .start_ms = from_ms};

        row.owner = nobody;
        row.held_ms = row.idle_ms = idle_ms;
        usage_sums_add(usage->booked, &row);
        if (owner) {
            row.owner = *owner;
            row.idle_ms = 0;
            row.held_ms = row.used_ms = slot_ms;
            row.cost_ms = slot_ms * level->price;
            usage_sums_add(usage->booked, &row);
        }
        from_ms = end_ms;
    }
}

/* When the split begins. */
static int64_t start_of(const struct usage *usage, const struct level *level,
                        int64_t at_ms)
{
    int64_t now_ms = usage->now_ms, first_ms = now_ms - CORRECTED_MS;

    first_ms = first_ms < level->split_ms ? level->split_ms : first_ms;
    at_ms = at_ms == 0 || at_ms > now_ms + USAGE_CLOCKS_MS ? now_ms : at_ms;
    return at_ms < first_ms ? first_ms : at_ms;
}

static void note_split(struct usage *usage, const struct level *level, uint64_t epoch)
{
    struct split *split = mem_alloc(1, sizeof *split);

    split->split = (struct usage_split){.lease = level->name + PREFIX,
                                        .side = level->side,
                                        .n_slots = level->n_held,
                                        .epoch = epoch,
                                        .at_ms = level->split_ms};
    DL_APPEND(usage->splits, split);
}

void usage_split(struct usage *usage, const struct usage_split *split, int64_t now_ms)
{
    see_clock(usage, now_ms);
    struct level *level = see_level(usage, split->lease, split->side);
    int n_more = split->n_slots - level->n_held;
    int64_t at_ms = start_of(usage, level, split->at_ms);

    if (split->epoch < level->epoch && split->at_ms < level->split_ms) {
        return; /* of before */
    }
    level->split_ms = at_ms;
    level->epoch = split->epoch;
    if (n_more == 0) {
        return;
    }
    book_level(usage, level, usage->now_ms);
    level->n_held = split->n_slots;
    level->is_changed = true;
    correct(usage, level, NULL, n_more, at_ms, usage->now_ms);
    correct(usage, level, NULL, -n_more, usage->now_ms, at_ms);
    note_split(usage, level, split->epoch);
}

void usage_each_split(struct usage *usage, usage_split_fn fn, void *arg)
{
    const struct split *split;

    DL_FOREACH (usage->splits, split) {
        fn(arg, &split->split);
    }
}

void usage_hold(struct usage *usage, const char *lease, enum usage_side side,
                int n_slots, int64_t now_ms)
{
    const struct usage_split split = {lease, side, n_slots, 0, 0};

    usage_split(usage, &split, now_ms);
}

void usage_correct(struct usage *usage, const char *lease, enum usage_side side,
                   const struct usage_owner *owner, int n_slots, int64_t from_ms,
                   int64_t to_ms)
{
    struct level *level = see_level(usage, lease, side);
    int64_t first_ms = usage->now_ms - CORRECTED_MS;

    from_ms = from_ms < first_ms ? first_ms : from_ms;
    to_ms = to_ms < first_ms ? first_ms : to_ms;
    correct(usage, level, owner, n_slots, from_ms, to_ms);
    correct(usage, level, owner, -n_slots, to_ms, from_ms);
    level->is_changed = true;
}

void usage_price(struct usage *usage, const char *lease, enum usage_side side,
                 int price, int64_t now_ms)
{
    see_clock(usage, now_ms);
    struct level *level = see_level(usage, lease, side);

    if (level->price != price) {
        book_level(usage, level, usage->now_ms);
        level->price = price;
        level->is_changed = true;
    }
}

static bool is_owner(const struct usage_owner *one, const struct usage_owner *other)
{
    return strcmp(one->user, other->user) == 0 &&
           strcmp(one->queue, other->queue) == 0 &&
           strcmp(one->project, other->project) == 0 &&
           strcmp(one->account, other->account) == 0;
}

/* The place of the owner, or the last one. */
static struct user **find_user(struct level *level, const struct usage_owner *owner)
{
    struct user **at = &level->users;

    while (*at && !is_owner(&(*at)->owner, owner)) {
        at = &(*at)->next;
    }
    return at;
}

static struct user *new_user(const struct usage_owner *from)
{
    const char *texts[] = {from->user, from->queue, from->project, from->account};
    const char *copies[4];
    struct user *user = mem_alloc(1, sizeof *user);
    size_t size = 0, at = 0;

    for (int i = 0; i < 4; i++) {
        size += strlen(texts[i]) + 1;
    }
    char *memory = mem_alloc(size, 1);
    for (int i = 0; i < 4; i++) {
        size_t length = strlen(texts[i]) + 1;

        copies[i] = memcpy(memory + at, texts[i], length);
        at += length;
    }
    user->owner = (struct usage_owner){copies[0], copies[1], copies[2], copies[3]};
    return user;
}

static void set_used(struct level *level, const struct usage_owner *owner, int n_used)
{
    struct user **at = find_user(level, owner);
    struct user *user = *at;

    level->is_changed = true;
    if (!user) {
        user = *at = new_user(owner);
    }
    user->n_used = n_used;
    if (n_used <= 0) {
        *at = user->next;
        free_user(user);
    }
}

static int count_used(struct level *level, const struct usage_owner *owner)
{
    const struct user *user = *find_user(level, owner);

    return user ? user->n_used : 0;
}

void usage_change(struct usage *usage, const char *lease, enum usage_side side,
                  const struct usage_owner *owner, int n_slots, int64_t now_ms)
{
    see_clock(usage, now_ms);
    struct level *level = see_level(usage, lease, side);
    struct usage_row moved = {.lease = lease,
                              .side = side,
                              .start_ms = usage->now_ms,
                              .owner = *owner,
                              .n_moved = n_slots < 0 ? -n_slots : n_slots};

    book_level(usage, level, usage->now_ms);
    set_used(level, owner, count_used(level, owner) + n_slots);
    usage_sums_add(usage->booked, &moved);
}

void usage_use(struct usage *usage, const char *lease, enum usage_side side,
               int n_slots, int64_t now_ms)
{
    see_clock(usage, now_ms);
    struct level *level = see_level(usage, lease, side);

    if (count_used(level, &nobody) != n_slots) {
        book_level(usage, level, usage->now_ms);
        set_used(level, &nobody, n_slots);
    }
}

/* ---- the journal's */

static void give_level(const struct level *level, usage_level_fn fn, void *arg)
{
    struct usage_level given = {.lease = level->name + PREFIX,
                                .side = level->side,
                                .n_held = level->n_held,
                                .price = level->price,
                                .is_used = level->users != NULL,
                                .booked_ms = level->booked_ms};

    fn(arg, &given);
}

static int compare_levels(const struct level *one, const struct level *other)
{
    int order = strcmp(one->name + PREFIX, other->name + PREFIX);

    return order ? order : (int)one->side - (int)other->side;
}

void usage_each_level(struct usage *usage, usage_level_fn fn, void *arg)
{
    HASH_SORT(usage->levels, compare_levels);
    for (struct level *level = usage->levels; level; level = level->hh.next) {
        if (level->is_changed) {
            give_level(level, fn, arg);
        }
    }
}

void usage_each_held(struct usage *usage, usage_level_fn fn, void *arg)
{
    for (struct level *level = usage->levels; level; level = level->hh.next) {
        if (level->n_held > 0) {
            give_level(level, fn, arg);
        }
    }
}

void usage_restore(struct usage *usage, const struct usage_level *from)
{
    struct level *level = see_level(usage, from->lease, from->side);

    level->n_held = from->n_held;
    level->price = from->price;
    level->booked_ms = from->booked_ms;
    if (usage->now_ms < from->booked_ms) {
        usage->now_ms = from->booked_ms;
    }
}
