/* SPDX-License-Identifier: Apache-2.0 */
/* user_map.h: under which account a user of another site runs here: the UserMap section
 * of lsb.users.
 *
 *     Begin UserMap
 *     LOCAL   REMOTE                      DIRECTION
 *     guest   (ana@south bob@south)       import
 *     all     all@west                    import
 *     ana     ana2@north                  export
 *     End UserMap
 *
 * `import` rows let users of other sites in, as the LOCAL account; `all` for a REMOTE
 * user is everybody of that site, for LOCAL the account of the same name (both ours).
 * `export` rows are what LSF asks for at the users' own site; here the site that lends
 * decides alone, and they are only checked. Never root.
 *
 * Order: the first row that names the user counts, `all@site` like any other.
 * Ownership: in conf's arena. Errors: diagnostics.
 * Source: LSF's lsb.users; docs/design/leases.md "Accounts". Layer: provider. */
#ifndef SUBLET_PROVIDER_USER_MAP_H
#define SUBLET_PROVIDER_USER_MAP_H

#include <stdbool.h>

#include "base/conf/conf.h"

struct user_map_row {
    const char *local; /* "all": the same name */
    const char *user;  /* "all": everybody */
    const char *site;
};

struct user_map {
    bool is_set; /* there is a section: users in no row may not run here */
    const struct user_map_row *rows;
    int n_rows;
};

void user_map_read(struct conf *conf, struct user_map *map);

/* The account of this user of that site, borrowed from the map or the user's own name;
 * NULL: they have none here. Of a map that is not set: `otherwise`. */
const char *user_map_account(const struct user_map *map, const char *user,
                             const char *site, const char *otherwise);

#endif
