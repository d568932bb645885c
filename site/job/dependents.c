/* SPDX-License-Identifier: Apache-2.0 */
/* dependents.c: see dependents.h. A table of jobs that are waited for, each with those
 * that wait; beside them how many of an id there are. */
#include "site/job/dependents.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/job_id.h"
#include "sched/pending/pending.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

struct keys {
    uint64_t *items;
    int count, capacity;
};

/* A job that is waited for; with key 0 in its index also the id's count. */
struct target {
    uint64_t key;
    struct keys waiting;
    int n_of_id;    /* only where the index is 0: of all of the id */
    uint64_t round; /* in which all that wait were noted; 0: none */
    UT_hash_handle hh;
};

struct dependents {
    struct target *targets;
    struct keys changed; /* to be looked at, from `next` on */
    int next;
    uint64_t round; /* counts what was taken */
};

struct dependents *dependents_new(void)
{
    struct dependents *depends = mem_alloc(1, sizeof(*depends));
    depends->round = 1;
    return depends;
}

static void remove_target(struct dependents *depends, struct target *target)
{
    HASH_DEL(depends->targets, target);
    free(target->waiting.items);
    free(target);
}

void dependents_free(struct dependents *depends)
{
    struct target *target, *next;
    if (depends == NULL) {
        return;
    }
    HASH_ITER (hh, depends->targets, target, next) {
        remove_target(depends, target);
    }
    free(depends->changed.items);
    free(depends);
}

static void add_key(struct keys *keys, uint64_t key)
{
    if (keys->count == keys->capacity) {
        keys->capacity = keys->capacity == 0 ? 4 : keys->capacity * 2;
        keys->items = mem_grow(keys->items, (size_t)keys->capacity, sizeof(uint64_t));
    }
    keys->items[keys->count++] = key;
}

static void remove_key(struct keys *keys, uint64_t key)
{
    for (int i = keys->count - 1; i >= 0; i--) {
        if (keys->items[i] == key) {
            keys->count--;
            memmove(&keys->items[i], &keys->items[i + 1],
                    (size_t)(keys->count - i) * sizeof(uint64_t));
            return;
        }
    }
}

static struct target *find(const struct dependents *depends, uint64_t key)
{
    struct target *target;
    HASH_FIND(hh, depends->targets, &key, sizeof(key), target);
    return target;
}

static struct target *find_or_add(struct dependents *depends, uint64_t key)
{
    struct target *target = find(depends, key);
    if (target == NULL) {
        target = mem_alloc(1, sizeof(*target));
        target->key = key;
        HASH_ADD(hh, depends->targets, key, sizeof(target->key), target);
    }
    return target;
}

struct call {
    struct dependents *depends;
    uint64_t key;
};

static void add_one(void *arg, uint64_t id, int index)
{
    const struct call *call = arg;
    int of = index == DEPEND_ARRAY ? 0 : index;
    struct target *target = find_or_add(call->depends, job_id_key(id, of));
    target->round = 0;
    add_key(&target->waiting, call->key);
    find_or_add(call->depends, job_id_key(id, 0))->n_of_id++;
}

static void remove_one(void *arg, uint64_t id, int index)
{
    const struct call *call = arg;
    int of = index == DEPEND_ARRAY ? 0 : index;
    struct target *target = find(call->depends, job_id_key(id, of));
    struct target *whole = find(call->depends, job_id_key(id, 0));
    if (target == NULL || whole == NULL) {
        return;
    }
    remove_key(&target->waiting, call->key);
    whole->n_of_id--;
    if (target != whole && target->waiting.count == 0) {
        remove_target(call->depends, target);
    }
    if (whole->n_of_id == 0) {
        remove_target(call->depends, whole);
    }
}

void dependents_add(struct dependents *depends, uint64_t key, const char *condition)
{
    struct call call = {depends, key};
    depend_visit(condition, job_id_key_index(key), add_one, &call);
}

void dependents_remove(struct dependents *depends, uint64_t key, const char *condition)
{
    struct call call = {depends, key};
    depend_visit(condition, job_id_key_index(key), remove_one, &call);
}

/* Once until something is taken: all elements of an array may end in one batch. */
static void note_target(struct dependents *depends, struct target *target)
{
    if (target == NULL || target->round == depends->round) {
        return;
    }
    for (int i = 0; i < target->waiting.count; i++) {
        add_key(&depends->changed, target->waiting.items[i]);
    }
    target->round = depends->round;
}

void dependents_note(struct dependents *depends, uint64_t key)
{
    if (depends->targets == NULL) {
        return;
    }
    note_target(depends, find(depends, key));
    if (job_id_key_index(key) != 0) {
        note_target(depends, find(depends, job_id_key(job_id_key_number(key), 0)));
    }
}

bool dependents_take(struct dependents *depends, uint64_t *key)
{
    depends->round++;
    if (depends->next == depends->changed.count) {
        depends->next = depends->changed.count = 0;
        return false;
    }
    *key = depends->changed.items[depends->next++];
    return true;
}

bool dependents_has(const struct dependents *depends, uint64_t id)
{
    return depends->targets != NULL && find(depends, job_id_key(id, 0)) != NULL;
}
