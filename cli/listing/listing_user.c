/* SPDX-License-Identifier: Apache-2.0 */
/* listing_user.c: see listing.h. */
#include "cli/listing/listing.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

const char *listing_user(struct call *call, bool is_named)
{
    const char *user = call_value(call, "-u");
    const struct passwd *entry;
    if (user != NULL) {
        return strcmp(user, "all") == 0 ? "" : user;
    }
    if (is_named) {
        return "";
    }
    entry = getpwuid(geteuid());
    if (entry != NULL) {
        return arena_str(&call->arena, entry->pw_name);
    }
    return arena_printf(&call->arena, "%u", (unsigned)geteuid());
}
