/* SPDX-License-Identifier: Apache-2.0 */
/* wire_links.c: see wire_links.h. */
#include "sys/wire/wire_links.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#define uthash_fatal(msg) abort()
#include <uthash.h>

enum {
    LINKS_MAX = 20000, /* two for each member: the old connection and the new one */
    ID_MAX = 255,      /* libzmq's bound on a routing id */
};

struct wire_link {
    uint64_t number;
    int fd;
    char key_z85[41];
    uint8_t id_size;
    uint8_t id[ID_MAX];
    UT_hash_handle by_id; /* in the order of last use, the oldest first */
    UT_hash_handle by_number;
};

struct wire_links {
    struct wire_link *ids;
    struct wire_link *numbers;
    uint64_t last;
};

struct wire_links *wire_links_new(void)
{
    return mem_alloc(1, sizeof(struct wire_links));
}

static void drop(struct wire_links *links, struct wire_link *link)
{
    HASH_DELETE(by_id, links->ids, link);
    HASH_DELETE(by_number, links->numbers, link);
    free(link);
}

void wire_links_free(struct wire_links *links)
{
    if (links == NULL) {
        return;
    }
    while (links->ids != NULL) {
        drop(links, links->ids);
    }
    free(links);
}

static struct wire_link *make(struct wire_links *links, const void *id, size_t id_size,
                              const char *key_z85)
{
    if (HASH_CNT(by_id, links->ids) >= LINKS_MAX) {
        drop(links, links->ids);
    }
    struct wire_link *link = mem_alloc(1, sizeof(*link));
    link->number = ++links->last;
    link->id_size = (uint8_t)id_size;
    memcpy(link->id, id, id_size);
    memcpy(link->key_z85, key_z85, strnlen(key_z85, sizeof(link->key_z85) - 1));
    HASH_ADD_KEYPTR(by_id, links->ids, link->id, link->id_size, link);
    HASH_ADD(by_number, links->numbers, number, sizeof(link->number), link);
    return link;
}

uint64_t wire_links_number(struct wire_links *links, const void *id, size_t id_size,
                           const char *key_z85, int fd)
{
    id_size = id_size <= ID_MAX ? id_size : ID_MAX;
    struct wire_link *link;
    HASH_FIND(by_id, links->ids, id, id_size, link);
    if (link != NULL && strcmp(link->key_z85, key_z85) != 0) {
        drop(links, link);
        link = NULL;
    }
    if (link == NULL) {
        link = make(links, id, id_size, key_z85);
        link->fd = fd;
        return link->number;
    }
    link->fd = fd;
    HASH_DELETE(by_id, links->ids, link); /* to the end of the order */
    HASH_ADD_KEYPTR(by_id, links->ids, link->id, link->id_size, link);
    return link->number;
}

static struct wire_link *find(const struct wire_links *links, uint64_t number)
{
    struct wire_link *link;
    HASH_FIND(by_number, links->numbers, &number, sizeof(number), link);
    return link;
}

const void *wire_links_id(const struct wire_links *links, uint64_t link,
                          size_t *id_size, int *fd)
{
    const struct wire_link *found = find(links, link);
    *fd = found != NULL ? found->fd : -1;
    *id_size = found != NULL ? found->id_size : 0;
    return found != NULL ? found->id : NULL;
}

const char *wire_links_key(const struct wire_links *links, uint64_t link)
{
    const struct wire_link *found = find(links, link);
    return found != NULL ? found->key_z85 : "";
}

void wire_links_remove(struct wire_links *links, uint64_t link)
{
    struct wire_link *found = find(links, link);
    if (found != NULL) {
        drop(links, found);
    }
}

void wire_links_remove_key(struct wire_links *links, const char *key_z85)
{
    struct wire_link *link, *next;
    HASH_ITER (by_id, links->ids, link, next) {
        if (strcmp(link->key_z85, key_z85) == 0) {
            drop(links, link);
        }
    }
}
