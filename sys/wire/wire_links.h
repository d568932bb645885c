/* SPDX-License-Identifier: Apache-2.0 */
/* wire_links.h: the connections of a ROUTER as numbers: a link is a routing id as one
 * key uses it. Part of wire.h.
 *
 * A routing id that comes with another key is another link: a number never changes
 * hands. At most LINKS_MAX; the one unused for longest goes first.
 * Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_LINKS_H
#define SUBLET_SYS_WIRE_WIRE_LINKS_H

#include <stddef.h>
#include <stdint.h>

struct wire_links;

struct wire_links *wire_links_new(void);
void wire_links_free(struct wire_links *links);

/* The link of a routing id and a key ("": none), made where there is none; never 0.
 * `fd` is the connection that it was last heard over (-1: not known). */
uint64_t wire_links_number(struct wire_links *links, const void *id, size_t id_size,
                           const char *key_z85, int fd);
/* The routing id of a link, borrowed until the next change; NULL where it is gone. */
const void *wire_links_id(const struct wire_links *links, uint64_t link,
                          size_t *id_size, int *fd);

void wire_links_remove(struct wire_links *links, uint64_t link);
/* All links of a key. */
void wire_links_remove_key(struct wire_links *links, const char *key_z85);

#endif
