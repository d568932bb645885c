/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts that users of other sites run as: what is read, what is refused, which
 * row applies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "provider/user_map.h"

struct world {
    struct arena arena;
    struct conf conf;
    struct user_map map;
};

static void read_rows(struct world *world, const char *rows)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s%s%s",
             rows[0] != '\0' ? "Begin UserMap\nLOCAL REMOTE DIRECTION\n" : "", rows,
             rows[0] != '\0' ? "\nEnd UserMap\n" : "");
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.users", text, strlen(text));
    conf_check(&world->conf);
    user_map_read(&world->conf, &world->map);
}

static void test_accounts(void **state)
{
    static const struct {
        const char *rows, *user, *site;
        const char *account; /* NULL: none */
    } rows[] = {
        {"", "ana", "south", "otherwise"},
        {"guest ana@south import", "ana", "south", "guest"},
        {"guest ana@south import", "bob", "south", NULL},
        {"guest ana@south import", "ana", "west", NULL},
        {"guest (ana@south bob@west) import", "bob", "west", "guest"},
        {"guest (ana@south bob@west) import", "bob", "south", NULL},
        {"all all@south import", "ana", "south", "ana"},
        {"all all@south import", "root", "south", NULL},
        {"guest all@south import", "root", "south", "guest"},
        {"guest ana@south import\nother all@south import", "ana", "south", "guest"},
        {"guest ana@south import\nother all@south import", "bob", "south", "other"},
        {"other all@south import\nguest ana@south import", "ana", "south", "other"},
        {"ana ana2@north export", "ana2", "north", NULL},
        {"all all@south import", "", "south", NULL},
        {"guest d@mon@south import", "d@mon", "south", "guest"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_rows(&world, rows[i].rows);
        assert_int_equal(world.conf.n_errors, 0);
        const char *account =
            user_map_account(&world.map, rows[i].user, rows[i].site, "otherwise");
        if ((account == NULL) != (rows[i].account == NULL) ||
            (account != NULL && strcmp(account, rows[i].account) != 0)) {
            fail_msg("%s: %s@%s is %s", rows[i].rows, rows[i].user, rows[i].site,
                     account != NULL ? account : "nobody");
        }
        arena_release(&world.arena);
    }
}

static void test_bad(void **state)
{
    static const struct {
        const char *rows, *says;
        int n_errors;
    } rows[] = {
        {"root ana@south import",
         "a user of another site cannot run as root, expected another account", 1},
        {"all root@south import", "would run as root", 1},
        {"(a b) ana@south import", "2 names to import as", 1},
        {"guest ana import", "expected USER@SITE", 1},
        {"guest @south import", "expected USER@SITE", 1},
        {"guest ana@ import", "expected USER@SITE", 1},
        {"guest - import", "no REMOTE", 1},
        {"guest ana@south sideways", "expected one of export import", 1},
        {"ana ana2@north export", "export has no effect", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_rows(&world, rows[i].rows);
        bool is_said = false;
        for (const struct conf_diag *diag = world.conf.diags; diag != NULL;
             diag = diag->next) {
            is_said = is_said || strstr(diag->text, rows[i].says) != NULL;
        }
        if (!is_said || world.conf.n_errors != rows[i].n_errors) {
            fail_msg("%s: %d errors, \"%s\"", rows[i].rows, world.conf.n_errors,
                     world.conf.diags != NULL ? world.conf.diags->text : "");
        }
        assert_null(user_map_account(&world.map, "root", "south", "x"));
        arena_release(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
