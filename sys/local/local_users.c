/* SPDX-License-Identifier: Apache-2.0 */
/* local_users.c: see local_users.h. */
#include "sys/local/local_users.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/rate_limit.h"
#define uthash_fatal(msg) abort()
#include <uthash.h>

enum { USERS_MAX = 4096 }; /* remembered without a connection */

struct user {
    int64_t uid;
    int n_connections;
    struct rate_limit rate_limit;
    UT_hash_handle hh;
};

struct local_users {
    struct user *users;
    int n_ordinary; /* connections of others than administrators */
};

static bool is_admin(const struct peer *peer)
{
    return (peer->roles & ROLE_ADMIN) != 0;
}

struct local_users *local_users_new(void)
{
    return mem_alloc(1, sizeof(struct local_users));
}

static void drop(struct local_users *users, struct user *user)
{
    HASH_DEL(users->users, user);
    free(user);
}

void local_users_free(struct local_users *users)
{
    while (users != NULL && users->users != NULL) {
        drop(users, users->users);
    }
    free(users);
}

static struct user *find(const struct local_users *users, const struct peer *peer)
{
    struct user *user;
    HASH_FIND(hh, users->users, &peer->uid, sizeof(peer->uid), user);
    return user;
}

static void make_room(struct local_users *users)
{
    struct user *user, *next;
    if (HASH_COUNT(users->users) < USERS_MAX) {
        return;
    }
    HASH_ITER (hh, users->users, user, next) {
        if (user->n_connections == 0) {
            drop(users, user);
            return;
        }
    }
}

static struct user *find_or_add(struct local_users *users, const struct peer *peer)
{
    struct user *user = find(users, peer);
    if (user == NULL) {
        make_room(users);
        user = mem_alloc(1, sizeof(*user));
        user->uid = peer->uid;
        rate_limit_init(&user->rate_limit, RATE_LIMIT_WORK_PER_S, RATE_LIMIT_WORK_MOST);
        HASH_ADD(hh, users->users, uid, sizeof(user->uid), user);
    }
    return user;
}

int local_users_join(struct local_users *users, const struct peer *peer,
                     bool is_privileged, struct err *err)
{
    if (is_admin(peer)) {
        return ERR_NONE;
    }
    struct user *user = find_or_add(users, peer);
    if (user->n_connections >= LOCAL_CONNECTIONS_PER_USER) {
        return err_set(err, ERR_FULL,
                       "user %s has %d connections, expected at most %d; end commands "
                       "that wait",
                       peer->name, user->n_connections, LOCAL_CONNECTIONS_PER_USER);
    }
    if (!is_privileged &&
        users->n_ordinary >= LOCAL_CONNECTIONS_MAX - LOCAL_CONNECTIONS_RESERVED) {
        return err_set(err, ERR_FULL, "too many connections (%d); try again later",
                       users->n_ordinary);
    }
    user->n_connections++;
    users->n_ordinary += !is_privileged;
    return ERR_NONE;
}

void local_users_leave(struct local_users *users, const struct peer *peer,
                       bool is_privileged)
{
    if (!is_admin(peer)) {
        find_or_add(users, peer)->n_connections--;
        users->n_ordinary -= !is_privileged;
    }
}

bool local_users_may_ask(struct local_users *users, const struct peer *peer,
                         int64_t now_ms, int64_t *ready_ms)
{
    if (is_admin(peer)) {
        return true;
    }
    struct user *user = find_or_add(users, peer);
    bool may = rate_limit_may_work(&user->rate_limit, now_ms);
    *ready_ms = may ? 0 : rate_limit_ready_ms(&user->rate_limit);
    return may;
}

void local_users_charge(struct local_users *users, const struct peer *peer,
                        int64_t work_us)
{
    if (!is_admin(peer)) {
        rate_limit_take_work(&find_or_add(users, peer)->rate_limit,
                             work_us > LOCAL_REQUEST_US ? work_us : LOCAL_REQUEST_US);
    }
}
