/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_export_select.c: which hosts a RES_SELECT means that names what only hosts
 * can tell: when it is settled, and that it stays. "north" has n1, n2, n3 and n4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "provider/provider.h"
#include "site/resource/site_resource.h"
#include "site/site.h"
#include "tests/unit/site/site_stage.h"

#define SITE                                                                           \
    "Begin Site\nNAME = north\nSPOOL = /s\nBROKER = tcp://b:1\nKEY = k\n"              \
    "BROKER_KEY = b\nEnd Site\nBegin Queue\nQUEUE_NAME = normal\nEnd Queue\n"          \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL DESCRIPTION\nlic Numeric 30 (x)\n"     \
    "End Resource\n"
#define HOSTS "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 4\nn3 2\nn4 1\nEnd Host\n"
#define POLICY(select, n_hosts, to)                                                    \
    "Begin HostExport\nRES_SELECT = " select "\nNHOSTS = " n_hosts                     \
    "\nDISTRIBUTION = (" to ")\nEnd HostExport\n"
#define NAMED(select)                                                                  \
    "Begin HostExport\nNAME = spare\nRES_SELECT = " select                             \
    "\nNHOSTS = 1\nDISTRIBUTION = ([south, 1])\nEnd HostExport\n"
#define BIG SITE HOSTS POLICY("mem > 1000", "2", "[south, 1]")

/* A host tells its memory, and licences where there are any. */
static void tell(struct site_stage *stage, const char *host, const char *mem,
                 const char *lic)
{
    struct load_value values[] = {{"mem", mem, false}, {"lic", lic, false}};
    struct peer from = site_stage_host(host);
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    msg.host_load =
        (struct msg_host_load){.values = values, .n_values = lic != NULL ? 2 : 1};
    site_stage_message(stage, &from, &msg);
}

static void come(struct site_stage *stage, const char *host, const char *mem)
{
    site_stage_host_up(stage, host);
    tell(stage, host, mem, NULL);
}

/* "n1=4 n2=4", "": not exported. */
static const char *exported(struct site_stage *stage, const char *lease)
{
    struct msg_state book;
    const char *text = "";
    if (!provider_find_lease(site_provider(stage->site), lease, &book)) {
        return "";
    }
    for (int i = 0; i < book.n_hosts; i++) {
        text = arena_printf(&stage->arena, "%s%s%s=%d", text, i > 0 ? " " : "",
                            book.hosts[i].host, book.hosts[i].n_slots);
    }
    return text;
}

#define EXPORTED(text) assert_string_equal(exported(&stage, "north/1/south"), text)

static void test_picked_when_all_have_told(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, BIG);
    come(&stage, "n1", "10");
    come(&stage, "n2", "2000");
    come(&stage, "n3", "3000");
    EXPORTED("");
    assert_int_equal(site_stage_count_rows(&stage, ROW_PICK), 0);
    come(&stage, "n4", "4000");
    EXPORTED("n2=4 n3=2"); /* the first two, whole */
    assert_int_equal(site_stage_count_rows(&stage, ROW_PICK), 1);
    site_stage_release(&stage);
}

static void test_what_was_picked_stays(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, BIG);
    come(&stage, "n1", "10");
    come(&stage, "n2", "2000");
    come(&stage, "n3", "3000");
    come(&stage, "n4", "10");
    tell(&stage, "n1", "9000", NULL);
    tell(&stage, "n2", "5", NULL);
    EXPORTED("n2=4 n3=2"); /* whatever the load */
    site_stage_restart(&stage);
    EXPORTED("n2=4 n3=2"); /* at once, before any host is there */
    come(&stage, "n1", "9000");
    EXPORTED("n2=4 n3=2");
    assert_true(site_stage_reload(
        &stage, SITE HOSTS "Begin Parameters\nMIN_HOLD = 3\n"
                           "End Parameters\n" POLICY("mem > 1000", "2", "[south, 1]")));
    EXPORTED("n2=4 n3=2"); /* equal content */
    site_stage_release(&stage);
}

static void test_a_changed_policy_is_picked_anew(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE HOSTS NAMED("mem > 1000"));
    come(&stage, "n1", "10");
    come(&stage, "n2", "2000");
    come(&stage, "n3", "3000");
    come(&stage, "n4", "10");
    assert_string_equal(exported(&stage, "north/spare/south"), "n2=4");
    assert_true(site_stage_reload(&stage, SITE HOSTS NAMED("mem > 2500")));
    assert_string_equal(exported(&stage, "north/spare/south"), "n2=4"); /* till then */
    tell(&stage, "n1", "10", NULL);
    tell(&stage, "n2", "2000", NULL);
    tell(&stage, "n3", "3000", NULL);
    assert_string_equal(exported(&stage, "north/spare/south"), "n2=4");
    tell(&stage, "n4", "10", NULL);
    assert_string_equal(exported(&stage, "north/spare/south"), "n3=2");
    assert_int_equal(site_stage_count_rows(&stage, ROW_PICK), 1);
    assert_true(site_stage_reload(&stage, SITE HOSTS));
    assert_int_equal(site_stage_count_rows(&stage, ROW_PICK), 0);
    site_stage_release(&stage);
}

static void test_silent_hosts_are_left_out_in_the_end(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, BIG);
    come(&stage, "n2", "2000");
    site_stage_pass(&stage, EXPORT_SELECT_WAIT_MS - 1000);
    EXPORTED("");
    site_stage_host_up(&stage, "n2");
    tell(&stage, "n2", "2000", NULL);
    site_stage_pass(&stage, 2000);
    EXPORTED("n2=4");
    come(&stage, "n1", "9000");
    EXPORTED("n2=4"); /* it was evaluated once */
    site_stage_release(&stage);
}

static void test_no_match_is_no_pick(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, BIG);
    site_stage_pass(&stage, EXPORT_SELECT_WAIT_MS + 5000);
    assert_int_equal(site_wake_ms(stage.site) <= stage.now_ms, false);
    come(&stage, "n1", "10");
    EXPORTED("");
    come(&stage, "n3", "3000");
    EXPORTED("n3=2"); /* the first that can be exported is */
    site_stage_release(&stage);
}

static void test_every_named_load_is_waited_for(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE
                         "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 4\nEnd Host\n" POLICY(
                             "mem > 5 && lic > 3", "2", "[south, 1]"));
    come(&stage, "n1", "10");
    site_stage_host_up(&stage, "n2");
    tell(&stage, "n2", "10", "9");
    EXPORTED("");
    tell(&stage, "n1", "10", "4");
    EXPORTED("n1=4 n2=4");
    site_stage_release(&stage);
}

static void test_hosts_of_others_are_passed_over(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(
        &stage,
        SITE HOSTS POLICY("mem > 5", "1", "[south, 1]") POLICY(
            "mem > 5", "9",
            "[east, 1] [west, 1]") "Begin HostExport\nPER_HOST = n1\nSLOTS = 1\n"
                                   "DISTRIBUTION = ([south, 1])\nEnd HostExport\n");
    assert_string_equal(exported(&stage, "north/3/south"), "n1=1");
    come(&stage, "n2", "10");
    come(&stage, "n3", "10");
    come(&stage, "n4", "10"); /* n1 is nobody's to wait for */
    EXPORTED("n2=4");
    assert_string_equal(exported(&stage, "north/2/east"), "n3=2");
    assert_string_equal(exported(&stage, "north/2/west"), "n4=1");
    site_stage_restart(&stage);
    EXPORTED("n2=4");
    assert_string_equal(exported(&stage, "north/2/east"), "n3=2");
    assert_string_equal(exported(&stage, "north/2/west"), "n4=1");
    site_stage_release(&stage);
}

static void test_equal_policies_have_a_pick_each(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, SITE HOSTS POLICY("mem > 5", "1", "[south, 1]")
                                     POLICY("mem > 5", "1", "[south, 1]"));
    for (int i = 0; i < 4; i++) {
        const char *const names[] = {"n1", "n2", "n3", "n4"};
        come(&stage, names[i], "10");
    }
    EXPORTED("n1=4");
    assert_string_equal(exported(&stage, "north/2/south"), "n2=4");
    site_stage_restart(&stage);
    EXPORTED("n1=4");
    assert_string_equal(exported(&stage, "north/2/south"), "n2=4");
    site_stage_release(&stage);
}

static void test_a_picked_host_that_goes_and_comes(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, BIG);
    come(&stage, "n1", "10");
    come(&stage, "n2", "2000");
    come(&stage, "n3", "3000");
    come(&stage, "n4", "4000");
    assert_true(site_stage_reload(&stage, SITE
                                  "Begin Host\nHOST_NAME MXJ\nn1 4\nn3 3\nEnd "
                                  "Host\n" POLICY("mem > 1000", "2", "[south, 1]")));
    EXPORTED("n3=3"); /* as large as it is now */
    assert_true(site_stage_reload(&stage, BIG));
    EXPORTED("n2=4 n3=2");
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picked_when_all_have_told),
        cmocka_unit_test(test_what_was_picked_stays),
        cmocka_unit_test(test_a_changed_policy_is_picked_anew),
        cmocka_unit_test(test_silent_hosts_are_left_out_in_the_end),
        cmocka_unit_test(test_no_match_is_no_pick),
        cmocka_unit_test(test_every_named_load_is_waited_for),
        cmocka_unit_test(test_hosts_of_others_are_passed_over),
        cmocka_unit_test(test_equal_policies_have_a_pick_each),
        cmocka_unit_test(test_a_picked_host_that_goes_and_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
