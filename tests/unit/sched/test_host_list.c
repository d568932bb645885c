/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_list.c: which hosts the list of a job names, with which preference, and
 * what is not a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/queue/queue.h"

enum { NO = -1 };

static const char *const pair_names[] = {"n1", "n2"};
static const struct name_group host_groups[] = {
    {.name = "pair", .members = {.names = pair_names, .n_names = 2}},
};
static const struct name_group *const by_name[] = {&host_groups[0]};
static const struct groups groups = {
    .hosts = host_groups, .hosts_by_name = by_name, .n_hosts = 1};

static int read_list(struct arena *arena, const char *text, struct host_list *list,
                     struct err *err)
{
    struct conf_words words = conf_words(arena, text);
    return host_list_parse(arena, &groups, words.words, words.count, list, err);
}

static void a_list_names_hosts(void **state)
{
    static const struct {
        const char *list, *host, *site;
        int preference; /* NO: not list for */
        const char *why;
    } rows[] = {
        {"n1", "n1", "", 0, "a name"},
        {"n1", "n2", "", NO, "another is not asked for"},
        {"n1", "n1@north", "north", NO, "a borrowed host has its site in its name"},
        {"n1@north", "n1@north", "north", 0, "as it stands there"},
        {"n1+3 n2", "n1", "", 3, "a preferred one"},
        {"n1+ n2", "n1", "", 1, "a plus without a number is one"},
        {"n1+3 n2", "n2", "", 0, "the other has none"},
        {"pair+2 n2+5", "n2", "", 5, "of several the highest"},
        {"n2+3 n2+5 n2", "n2", "", 5, "of one name, too"},
        {"n1+2 n1@north+4", "n1", "", 2, "one of the site's own is another"},
        {"n1+2 n1@north+4", "n1@north", "north", 4, "than the borrowed one"},
        {"a b c d e f g h n1+1 i j", "n1", "", 1, "among many"},
        {"a b c d e f g h n1+1 i j", "k", "", NO, "and one that is not there"},
        {"pair", "n3", "", NO, "not of the group"},
        {"n1+2 others", "n3", "", 0, "whatever is not named"},
        {"n1+2 others+1", "n3", "", 1, "which may be preferred too"},
        {"n1+2 others+9", "n1", "", 2, "but not to what is named"},
        {"n1 others", "n1@north", "north", 0, "borrowed hosts are others too"},
        {"allremote+1 n1", "x@west", "west", 1, "all borrowed ones"},
        {"all@north", "x@west", "west", NO, "of one site"},
        {"all@north", "x@north", "north", 0, "of that one"},
        {"gone", "n1", "", NO, "a name that nobody has"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct host_list list;
        struct err err;
        int preference = NO;
        arena_init(&arena);
        assert_int_equal(read_list(&arena, rows[i].list, &list, &err), 0);
        bool is_asked =
            host_list_allows(&list, rows[i].host, rows[i].site, &preference);
        if (is_asked != (rows[i].preference != NO) ||
            (is_asked && preference != rows[i].preference)) {
            fail_msg("%s: \"%s\" and %s: %d, preference %d", rows[i].why, rows[i].list,
                     rows[i].host, is_asked, preference);
        }
        arena_release(&arena);
    }
}

static void hosts_are_avoided(void **state)
{
    static const char *const gone[] = {"n1", "n2@north"};
    const struct host_list list = {.is_any = true, .avoided = gone, .n_avoided = 2};
    int preference;
    (void)state;
    assert_true(host_list_avoids(&list, "n1"));
    assert_true(host_list_avoids(&list, "n2@north"));
    assert_false(host_list_avoids(&list, "n2")); /* another of that name */
    assert_false(host_list_avoids(NULL, "n1"));
    assert_true(host_list_allows(&list, "n3", "", &preference)); /* there is no list */
}

static void preferences_are_seen(void **state)
{
    static const struct {
        const char *list;
        bool has_preferences;
    } rows[] = {
        {"n1 n2", false}, {"n1+0", false}, {"n1 n2+1", true}, {"others+", true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct host_list list;
        struct err err;
        arena_init(&arena);
        assert_int_equal(read_list(&arena, rows[i].list, &list, &err), 0);
        assert_int_equal(list.has_preferences, rows[i].has_preferences);
        arena_release(&arena);
    }
}

static void first_hosts_are_marked(void **state)
{
    static const struct {
        const char *list, *host, *site;
        bool has_first, is_first;
        const char *why;
    } rows[] = {
        {"n1 n3", "n1", "", false, false, "none is marked"},
        {"n3! n1", "n3", "", true, true, "a host"},
        {"n3! n1", "n1", "", true, false, "another one"},
        {"pair! n3", "n2", "", true, true, "of a group"},
        {"pair! n3", "n3", "", true, false, "not of it"},
        {"n1! pair", "n2", "", true, false, "of the same group without a mark"},
        {"n1@north!", "n1@north", "north", true, true, "a borrowed one"},
        {"n1@north!", "n1", "", true, false, "is no own one"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct host_list list;
        struct err err;
        int preference;
        arena_init(&arena);
        assert_int_equal(read_list(&arena, rows[i].list, &list, &err), 0);
        if (list.has_first != rows[i].has_first ||
            host_list_is_first(&list, rows[i].host, rows[i].site) != rows[i].is_first) {
            fail_msg("%s", rows[i].why);
        }
        if (rows[i].is_first) {
            assert_true(
                host_list_allows(&list, rows[i].host, rows[i].site, &preference));
        }
        arena_release(&arena);
    }
    (void)state;
}

static void what_is_no_list_says_why(void **state)
{
    static const struct {
        const char *list, *said;
    } rows[] = {
        {"n1 ~n2", "-m: \"~n2\": a job names the hosts that it wants"},
        {"all ~pair", "-m: \"~pair\": a job names"},
        {"n1+x", "\"n1+x\" has a bad preference, expected NAME+N"},
        {"n1+-1", "\"n1+-1\" has a bad preference"},
        {"n1+1!", "\"n1+1!\": expected either +N or !"},
        {"n1!+1", "\"n1!\" is not a name"},
        {"others!", "\"others!\": expected hosts or host groups before !"},
        {"!", "\"!\""},
        {"a/b", "\"a/b\""},
        {"n1@", "\"n1@\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct host_list list;
        struct err err = {0};
        arena_init(&arena);
        assert_true(read_list(&arena, rows[i].list, &list, &err) < 0);
        if (strstr(err.text, rows[i].said) == NULL) {
            fail_msg("\"%s\": %s", rows[i].list, err.text);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_names_hosts),
        cmocka_unit_test(hosts_are_avoided),
        cmocka_unit_test(preferences_are_seen),
        cmocka_unit_test(first_hosts_are_marked),
        cmocka_unit_test(what_is_no_list_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
