/* SPDX-License-Identifier: Apache-2.0 */
/* wire_links.h: numbers for the connections of a ROUTER. A link is a routing id as used
 * by one key.
 *
 * The same routing id with another key is another link: a number always belongs to the
 * same peer. At most LINKS_MAX; the least recently used one is removed first.
 * Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_LINKS_H
#define SUBLET_SYS_WIRE_WIRE_LINKS_H

#include <stddef.h>
#include <stdint.h>

struct wire_links;

struct wire_links *wire_links_new(void);
void wire_links_free(struct wire_links *links);

/* The link of a routing id and a key ("": none), made if it does not exist; never 0.
 * `fd` is the connection of its last message (-1: unknown). */
uint64_t wire_links_number(struct wire_links *links, const void *id, size_t id_size,
                           const char *key_z85, int fd);
/* The routing id of a link, borrowed until the next change; NULL if the link is gone.
 */
const void *wire_links_id(const struct wire_links *links, uint64_t link,
                          size_t *id_size, int *fd);

/* The key of a link; "" if the link is gone or has none. Borrowed until the next
 * change. */
const char *wire_links_key(const struct wire_links *links, uint64_t link);

void wire_links_remove(struct wire_links *links, uint64_t link);
/* All links of a key. */
void wire_links_remove_key(struct wire_links *links, const char *key_z85);

#endif
