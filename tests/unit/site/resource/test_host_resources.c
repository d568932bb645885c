/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_resources.c: what configuration and hosts say of resources, and what of it
 * is believed. Texts in, values of hosts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/config/resource_config.h"
#include "site/config/site_config.h"
#include "site/resource/host_resources.h"

#define SITE "Begin Site\nNAME = north\nSPOOL = /s\nEnd Site\n"
#define QUEUE "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"
#define HOSTS                                                                          \
    "Begin Host\nHOST_NAME MXJ type model RESOURCES\nn1 4 ! ! (linux !bigmem)\n"       \
    "n2 4 X86_64 EPYC (linux)\nn3 4 - - ()\nEnd Host\n"
#define RESOURCES                                                                      \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING RELEASE CONSUMABLE "        \
    "DESCRIPTION\n"                                                                    \
    "linux Boolean () () () () (the system)\nbigmem Boolean () () () () (large)\n"     \
    "licences Numeric 30 N () () (measured)\nload2 Numeric 15 Y N N (measured)\n"      \
    "os_version String () () () () ()\nscratch Numeric () N () () ()\n"                \
    "ready Boolean 30 () () () ()\nEnd Resource\n"

struct world {
    struct arena arena;
    struct conf conf;
    struct site_setup setup;
    struct host_resources *host_resources;
};

static struct world world;

static void read_text(const char *text)
{
    arena_init(&world.arena);
    conf_init(&world.conf, &world.arena);
    conf_read(&world.conf, "f", text, strlen(text));
    conf_check(&world.conf);
    site_config_read(&world.conf, &world.setup);
}

static void open_world(const char *text)
{
    read_text(text);
    if (world.conf.n_errors > 0) {
        fail_msg("line %d: %s", world.conf.diags->line, world.conf.diags->text);
    }
    world.host_resources = host_resources_new(&world.setup.config);
}

static void close_world(void)
{
    host_resources_free(world.host_resources);
    world.host_resources = NULL;
    arena_release(&world.arena);
}

static int id_of(const char *name)
{
    int id = resources_find(host_resources_catalogue(world.host_resources), name,
                            strlen(name));
    assert_true(id >= 0);
    return id;
}

/* A value as text: "-" absent, "!" behind an exclusive one. */
static const char *shown(int host, const char *name)
{
    struct resource_table *table = host_resources_table(world.host_resources);
    int id = id_of(name);
    if (!resource_table_has(table, host, id)) {
        return "-";
    }
    switch (resources_at(host_resources_catalogue(world.host_resources), id)->type) {
    case RESOURCE_NUMERIC:
        return arena_printf(&world.arena, "%g", resource_table_number(table, host, id));
    case RESOURCE_BOOLEAN:
        return arena_printf(&world.arena, "%s%s",
                            resource_table_flag(table, host, id) ? "yes" : "no",
                            resource_table_is_exclusive(table, host, id) ? "!" : "");
    case RESOURCE_STRING:
        break;
    }
    return resource_table_text(table, host, id);
}

/* "name=value ..." of n1, n2, n3: each value of all three. */
static void expect(const char *name, const char *first, const char *second,
                   const char *third)
{
    const char *wanted[] = {first, second, third};
    for (int i = 0; i < 3; i++) {
        const char *got = shown(i, name);
        if (strcmp(got, wanted[i]) != 0) {
            fail_msg("%s of n%d is %s, expected %s", name, i + 1, got, wanted[i]);
        }
    }
}

/* Words "name=value", "!name=value"; returns what host_resources_report does. */
static const char *tell(int host, const char *text)
{
    struct load_value values[32];
    struct msg_host_load msg = {.values = values};
    struct conf_words words = conf_words(&world.arena, text);
    for (int i = 0; i < words.count; i++) {
        bool is_exclusive = words.words[i][0] == '!';
        char *name = arena_str(&world.arena, words.words[i] + is_exclusive);
        char *equals = strchr(name, '=');
        *equals = '\0';
        values[msg.n_values++] = (struct load_value){
            .name = name, .value = equals + 1, .is_exclusive = is_exclusive};
    }
    return host_resources_report(world.host_resources, host, &msg);
}

/* ---------------------------------------------------------------- what is configured
 */

static void test_configured(void **state)
{
    open_world(SITE HOSTS QUEUE RESOURCES
               "Begin ResourceMap\nRESOURCENAME LOCATION\n"
               "scratch (500@[n1] 200@[default])\nos_version (4.2@[n1 n3])\n"
               "End ResourceMap\n");
    expect("linux", "yes", "yes", "-");
    expect("bigmem", "yes!", "-", "-");
    expect("scratch", "500", "200", "200");
    expect("os_version", "4.2", "-", "4.2");
    expect("type", "-", "X86_64", "-"); /* detected where it is not said */
    expect("model", "-", "EPYC", "-");
    expect("cpuf", "1", "1", "1");
    expect("hname", "n1", "n2", "n3");
    expect("server", "yes", "yes", "yes");
    expect("mem", "-", "-", "-");
    const struct resource *resource =
        resources_at(host_resources_catalogue(world.host_resources), id_of("licences"));
    assert_int_equal(resource->interval_ms, 30000);
    assert_false(resource->is_increasing);
    assert_true(resource->is_consumable); /* a number that is not INCREASING */
    assert_true(resource->is_released);
    resource =
        resources_at(host_resources_catalogue(world.host_resources), id_of("load2"));
    assert_true(resource->is_increasing);
    assert_false(resource->is_consumable);
    assert_false(resource->is_released);
    close_world();
}

static void test_undefined_words_are_booleans(void **state)
{
    open_world(SITE HOSTS QUEUE);
    assert_int_equal(world.conf.n_warnings, 0);
    expect("linux", "yes", "yes", "-");
    expect("bigmem", "yes!", "-", "-");
    close_world();
    open_world(SITE HOSTS QUEUE "Begin Resource\nRESOURCENAME TYPE\nlinux Boolean\n"
                                "End Resource\n");
    assert_int_equal(world.conf.n_warnings, 1);
    assert_non_null(strstr(world.conf.diags->text, "\"bigmem\" is not defined"));
    expect("bigmem", "yes!", "-", "-");
    close_world();
}

/* ---------------------------------------------------------------- what hosts tell */

static void test_told(void **state)
{
    open_world(SITE HOSTS QUEUE RESOURCES);
    assert_false(host_resources_is_reported(world.host_resources, 0));
    assert_null(tell(0, "r15s=0.25 ut=0.5 mem=4000 type=X86_64 model=x6_4000_Xeon "
                        "nprocs=2 ncores=8 nthreads=2 maxmem=8000 licences=17 ready=1 "
                        "os_version=4.2 ncpus=99 status=ok hname=other"));
    assert_true(host_resources_is_reported(world.host_resources, 0));
    expect("r15s", "0.25", "-", "-");
    expect("mem", "4000", "-", "-");
    expect("type", "X86_64", "X86_64", "-");
    expect("model", "x6_4000_Xeon", "EPYC", "-"); /* what no section names, is itself */
    expect("ncpus", "2", "-", "-"); /* procs: sockets; it is ours to say */
    expect("hname", "n1", "n2", "n3");
    expect("status", "-", "-", "-");
    expect("licences", "17", "-", "-"); /* not in ResourceMap: each host's own */
    expect("ready", "yes", "-", "-");
    expect("os_version", "4.2", "-", "-");
    expect("linux", "yes", "yes", "-");
    assert_string_equal(host_resources_architecture(world.host_resources, 0),
                        "x6_4000_Xeon");
    assert_null(
        tell(0, "r15s=0.5 maxmem=8000 type=X86_64")); /* level: the rest is gone */
    expect("r15s", "0.5", "-", "-");
    expect("mem", "-", "-", "-");
    expect("licences", "-", "-", "-");
    expect("linux", "yes", "yes", "-");
    host_resources_disconnect(world.host_resources, 0);
    assert_false(host_resources_is_reported(world.host_resources, 0));
    expect("r15s", "-", "-", "-");
    expect("maxmem", "8000", "-", "-"); /* what it is, is still known */
    expect("type", "X86_64", "X86_64", "-");
    close_world();
}

static void test_refused(void **state)
{
    static const struct {
        const char *told, *complaint, *why;
    } rows[] = {
        {"nothing=1", "nothing", "no such resource"},
        {"mem=inf", "mem", "no infinity"},
        {"mem=nan", "mem", "no NaN"},
        {"mem=1e999", "mem", "an overflow is one"},
        {"mem=0x10", "mem", "no hexadecimal"},
        {"mem=", "mem", "empty"},
        {"mem=12M", "mem", "a unit"},
        {"ready=maybe", "ready", "no Boolean"},
        {"ready=2", "ready", "nor a number that is none"},
        {"r1m=1 x=1 y=1", "x", "the first of several"},
        {"mem=1e3 r1m=.5 r15m=-0", NULL, "numbers as C writes them"},
        {"status=x slots=y", NULL, "what is ours is not looked at"},
    };
    open_world(SITE HOSTS QUEUE RESOURCES);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *got = tell(0, rows[i].told);
        if ((got == NULL) != (rows[i].complaint == NULL) ||
            (got != NULL && strcmp(got, rows[i].complaint) != 0)) {
            fail_msg(
                "%s: %s, expected %s: %s", rows[i].told, got != NULL ? got : "taken",
                rows[i].complaint != NULL ? rows[i].complaint : "taken", rows[i].why);
        }
    }
    expect("mem", "-", "-", "-");
    close_world();
}

static void test_local_resources(void **state)
{
    open_world(SITE HOSTS QUEUE RESOURCES);
    tell(1, "!bigmem=1 os_version=9 type=SUN model=Ultra");
    expect("bigmem", "yes!", "yes!", "-");
    expect("os_version", "-", "9", "-");
    expect("type", "-", "X86_64", "-"); /* the configuration goes before */
    tell(1, "os_version=9");
    expect("bigmem", "yes!", "-", "-");
    assert_false(resource_table_is_exclusive(host_resources_table(world.host_resources),
                                             1, id_of("bigmem")));
    tell(2, "type=SUN model=Ultra");
    expect("type", "-", "X86_64", "SUN");
    expect("model", "-", "EPYC", "Ultra");
    tell(0, "linux=0 !linux=1");
    expect("linux", "yes", "yes", "-"); /* nor is it taken away, or made exclusive */
    assert_string_equal(tell(0, "!secret=1 nothing=1 !os_version=9"), "secret");
    assert_string_equal(
        resource_table_undefined(host_resources_table(world.host_resources), 0),
        "secret os_version"); /* the host takes no job */
    tell(0, "linux=1");
    assert_string_equal(
        resource_table_undefined(host_resources_table(world.host_resources), 0), "");
    close_world();
}

/* A Boolean that is measured elsewhere and given here stays when the host goes. */
static void test_given_and_dynamic(void **state)
{
    open_world(SITE "Begin Host\nHOST_NAME MXJ RESOURCES\nn1 4 (ready)\nn2 4 ()\n"
                    "n3 4 ()\nEnd Host\n" QUEUE RESOURCES);
    expect("ready", "yes", "-", "-");
    tell(0, "ready=0");
    tell(1, "ready=1");
    expect("ready", "no", "yes", "-"); /* what is dynamic, is measured */
    host_resources_disconnect(world.host_resources, 0);
    host_resources_disconnect(world.host_resources, 1);
    expect("ready", "yes", "-", "-");
    close_world();
}

/* ---------------------------------------------------------------- shared ones */

static void test_shared(void **state)
{
    open_world(SITE HOSTS QUEUE RESOURCES
               "Begin ResourceMap\nRESOURCENAME LOCATION\nlicences ([n1 n2])\n"
               "load2 ([default])\nscratch (7@[n1])\nEnd ResourceMap\n");
    tell(1, "licences=5");
    expect("licences", "5", "5", "-");
    tell(2, "licences=9"); /* it is not there */
    expect("licences", "5", "5", "-");
    tell(0, "licences=6"); /* the first that tells it tells it for all */
    tell(1, "licences=5");
    expect("licences", "6", "6", "-");
    tell(0, "mem=1"); /* its elim has ended */
    expect("licences", "-", "-", "-");
    tell(1, "licences=4");
    expect("licences", "4", "4", "-");
    assert_string_equal(tell(1, "licences=x"), "licences");
    expect("licences", "-", "-", "-");
    tell(1, "licences=3");
    host_resources_disconnect(world.host_resources, 0);
    expect("licences", "3", "3", "-");
    host_resources_disconnect(world.host_resources, 1);
    expect("licences", "-", "-", "-");
    tell(0, "load2=1 scratch=99");
    tell(2, "load2=3 scratch=99");
    expect("load2", "1", "-", "3");
    expect("scratch", "7", "-", "-"); /* what is configured is not measured */
    close_world();
}

static void test_places(void **state)
{
    static const struct {
        const char *location, *first, *second, *third, *why;
    } rows[] = {
        {"5@[all]", "5", "5", "5", "all"},
        {"(5@[all ~n2])", "5", "-", "5", "but one"},
        {"(5@[~n2 all])", "5", "-", "5", "in any order"},
        {"(5@[n1] 6@[others])", "5", "6", "6", "the others"},
        {"(6@[others] 5@[n1])", "5", "6", "6", "wherever they stand"},
        {"(5@[n3] 6@[default])", "6", "6", "5", "each by itself"},
        {"(-1.5@[n1])", "-1.5", "-", "-", "a negative number"},
        {"(5@[all] 6@[others])", "5", "5", "5", "none is left"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[2048];
        snprintf(text, sizeof(text),
                 SITE HOSTS QUEUE RESOURCES "Begin ResourceMap\nRESOURCENAME "
                                            "LOCATION\nscratch %s\nEnd ResourceMap\n",
                 rows[i].location);
        open_world(text);
        expect("scratch", rows[i].first, rows[i].second, rows[i].third);
        close_world();
    }
}

/* ---------------------------------------------------------------- borrowed hosts */

/* RESOURCES (NAME=VALUE): each host has its own, beside Booleans and exclusive ones. */
static void test_values_of_hosts(void **state)
{
    open_world(SITE QUEUE
               "Begin Host\nHOST_NAME MXJ RESOURCES\n"
               "n1 4 (os=4.2 lic=3 fast !big)\nn2 4 (lic=0.5)\nn3 4 ()\nEnd Host\n"
               "Begin Resource\nRESOURCENAME TYPE\nos String\nlic Numeric\n"
               "fast Boolean\nbig Boolean\nEnd Resource\n");
    assert_int_equal(world.conf.n_errors, 0);
    expect("os", "4.2", "-", "-");
    expect("lic", "3", "0.5", "-");
    expect("fast", "yes", "-", "-");
    close_world();
}

static void test_borrowed(void **state)
{
    static const struct load_value values[] = {
        {"mem", "4000", false},   {"bigmem", "1", true},     {"hname", "x", false},
        {"slots", "9", false},    {"nothing", "1", true},    {"ut", "x", false},
        {"model", "EPYC", false}, {"os_version", "9", false}};
    open_world(SITE HOSTS QUEUE RESOURCES);
    struct resource_table *table = host_resources_table(world.host_resources);
    assert_int_equal(host_resources_find_borrowed(world.host_resources, "a@west"), -1);
    borrowed_resources_report(host_resources_borrowed(world.host_resources), "a@west",
                              values, 8);
    borrowed_resources_report(host_resources_borrowed(world.host_resources), "b@west",
                              values, 2);
    int a = host_resources_find_borrowed(world.host_resources, "a@west"),
        b = host_resources_find_borrowed(world.host_resources, "b@west");
    assert_true(a >= 3 && b >= 3 && a != b); /* behind the own ones */
    assert_string_equal(shown(a, "mem"), "4000");
    assert_string_equal(shown(a, "bigmem"), "yes!");
    assert_string_equal(shown(a, "hname"), "a@west");
    assert_string_equal(shown(a, "slots"), "-");
    assert_string_equal(shown(a, "ut"), "-");
    assert_string_equal(shown(a, "model"), "EPYC");
    assert_string_equal(resource_table_undefined(table, a), "nothing");
    assert_string_equal(resource_table_undefined(table, b), "");
    borrowed_resources_report(host_resources_borrowed(world.host_resources), "a@west",
                              values, 1); /* level */
    assert_string_equal(shown(a, "bigmem"), "-");
    assert_string_equal(resource_table_undefined(table, a), "");
    bool is_needed[] = {[4] = b == 4, [3] = b == 3};
    borrowed_resources_prune(host_resources_borrowed(world.host_resources), is_needed);
    assert_int_equal(host_resources_find_borrowed(world.host_resources, "a@west"), -1);
    assert_int_equal(host_resources_find_borrowed(world.host_resources, "b@west"), b);
    borrowed_resources_report(host_resources_borrowed(world.host_resources), "c@west",
                              values, 0);
    assert_int_equal(host_resources_find_borrowed(world.host_resources, "c@west"),
                     a); /* its row is used again */
    assert_string_equal(shown(a, "mem"), "-");
    assert_int_equal(resource_table_rows(table), 5);
    expect("hname", "n1", "n2", "n3");
    close_world();
}

/* ---------------------------------------------------------------- models, ncpus */

static void test_models(void **state)
{
    static const struct {
        const char *told, *model;
        double cpuf;
        const char *why;
    } rows[] = {
        {"x6_4000_IntelXeon", "Xeon4", 4, "the very word"},
        {"x6_4010_IntelXeon", "Xeon4", 4, "the nearest speed"},
        {"x6_2100_IntelXeon", "Xeon2", 2, "the other one is nearer"},
        {"x6_3000_IntelXeon", "Xeon2", 2, "equally near: the first in the file"},
        {"x25_4000_AMDEPYC", "Epyc", 6, "one of several words"},
        {"Epyc", "Epyc", 6, "a model's name"},
        {"x6_4000_IntelCore", "x6_4000_IntelCore", 1, "no such name"},
        {"x15_4000_IntelXeon", "x15_4000_IntelXeon", 1, "another family"},
        {"x6__IntelXeon", "Xeon2", 2, "no speed counts as 0"},
        {"x6", "x6", 1, "nothing like it"},
    };
    open_world(SITE HOSTS QUEUE
               "Begin HostModel\nMODELNAME CPUFACTOR ARCHITECTURE\n"
               "Xeon2 2.0 (x6_2000_IntelXeon)\nXeon4 4 (x6_4000_IntelXeon)\n"
               "Epyc 6 (x23_1_AMDEPYC x25_1_AMDEPYC)\nEPYC 0.5 ()\nEnd HostModel\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double cpuf = 0;
        const char *model = resource_config_find_model(
            &world.setup.config.resource_config, rows[i].told, &cpuf);
        if (strcmp(model, rows[i].model) != 0 || cpuf != rows[i].cpuf) {
            fail_msg("%s: %s %g, expected %s %g: %s", rows[i].told, model, cpuf,
                     rows[i].model, rows[i].cpuf, rows[i].why);
        }
    }
    tell(0, "model=x6_4000_IntelXeon");
    tell(1, "model=x6_4000_IntelXeon");
    expect("model", "Xeon4", "EPYC", "-");
    expect("cpuf", "4", "0.5", "1");
    close_world();
}

static void test_ncpus(void **state)
{
    static const char *const rows[][2] = {
        {"", "2"},
        {"EGO_DEFINE_NCPUS=procs\n", "2"},
        {"EGO_DEFINE_NCPUS=cores\n", "16"},
        {"EGO_DEFINE_NCPUS=THREADS\n", "32"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text), "%s" SITE HOSTS QUEUE, rows[i][0]);
        open_world(text);
        tell(0, "nprocs=2 ncores=8 nthreads=2");
        expect("ncpus", rows[i][1], "-", "-");
        close_world();
    }
}

/* ---------------------------------------------------------------- complaints */

static const struct {
    const char *text;
    const char *complaint; /* a part of the first error */
} wrong[] = {
    {"Begin Resource\nRESOURCENAME TYPE\n1a Numeric\nEnd Resource\n", "digit"},
    {"Begin Resource\nRESOURCENAME TYPE\na+b Numeric\nEnd Resource\n",
     "not a resource's name"},
    {"Begin Resource\nRESOURCENAME TYPE\nmem Numeric\nEnd Resource\n", "built in"},
    {"Begin Resource\nRESOURCENAME TYPE\na Numeric\na Boolean\nEnd Resource\n",
     "defined twice"},
    {"Begin Resource\nRESOURCENAME TYPE\na Number\nEnd Resource\n", "Numeric"},
    {"Begin Resource\nRESOURCENAME TYPE\na -\nEnd Resource\n", "has no TYPE"},
    {"Begin Resource\nRESOURCENAME TYPE INTERVAL\na Numeric 0\nEnd Resource\n", "1"},
    {"Begin Resource\nRESOURCENAME TYPE INCREASING\na Numeric x\nEnd Resource\n", "Y"},
    {"Begin Resource\nRESOURCENAME TYPE\nlinux Boolean\nbigmem Numeric\nEnd Resource\n",
     "\"bigmem\" is not a Boolean"},
    {"Begin HostType\nTYPENAME\nLINUX86\nEnd HostType\n", "unknown \"X86_64\""},
    {"Begin HostModel\nMODELNAME\nOther\nEnd HostModel\n", "unknown \"EPYC\""},
    {"Begin HostModel\nMODELNAME CPUFACTOR\nEPYC 0\nEnd HostModel\n", "not a factor"},
    {"Begin HostModel\nMODELNAME CPUFACTOR\nEPYC 1x\nEnd HostModel\n", "not a factor"},
    {"Begin HostModel\nMODELNAME CPUFACTOR\nEPYC 1\nEPYC 2\nEnd HostModel\n", "twice"},
    {"EGO_DEFINE_NCPUS=cpus\n", "procs"},
    {"LSF_LOCAL_RESOURCES=\"[resource 1a]\"\n", "not a resource's name"},
};

static const struct {
    const char *location;
    const char *complaint;
} wrong_places[] = {
    {"5@[n9]", "unknown host \"n9\""},
    {"5@[~n9]", "unknown host \"n9\""},
    {"x@[n1]", "\"x\" is not a value of \"scratch\""},
    {"5@n1", "is not a place"},
    {"5[n1]", "is not a place"},
    {"n1", "is not a place"},
    {"(5@[n1] 6@[n1 n2])", "host \"n1\" is in two places"},
    {"-", "has no location"},
};

static const struct {
    const char *words;
    const char *complaint;
} wrong_words[] = {
    {"(scratch=x)", "\"x\" is not a value of \"scratch\""},
    {"(scratch=1 scratch=2)", "has a value here already"},
    {"(lic=1)", "has a value in section ResourceMap"},
    {"(scratch)", "\"scratch\" is not a Boolean"},
};

static void check_complaint(const char *what, const char *text, const char *complaint)
{
    read_text(text);
    const struct conf_diag *diag = world.conf.diags;
    while (diag != NULL && diag->severity != CONF_ERROR) {
        diag = diag->next;
    }
    if (diag == NULL || world.conf.n_errors != 1 ||
        strstr(diag->text, complaint) == NULL) {
        fail_msg("%s: %d errors, the first \"%s\", expected one with \"%s\"", what,
                 world.conf.n_errors, diag != NULL ? diag->text : "", complaint);
    }
    arena_release(&world.arena);
}

static void test_complaints(void **state)
{
    char text[2048];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(text, sizeof(text), "%s" SITE HOSTS QUEUE, wrong[i].text);
        check_complaint(wrong[i].text, text, wrong[i].complaint);
    }
    for (size_t i = 0; i < sizeof(wrong_places) / sizeof(wrong_places[0]); i++) {
        snprintf(text, sizeof(text),
                 SITE HOSTS QUEUE RESOURCES "Begin ResourceMap\nRESOURCENAME "
                                            "LOCATION\nscratch %s\nEnd ResourceMap\n",
                 wrong_places[i].location);
        check_complaint(wrong_places[i].location, text, wrong_places[i].complaint);
    }
    for (size_t i = 0; i < sizeof(wrong_words) / sizeof(wrong_words[0]); i++) {
        snprintf(text, sizeof(text),
                 SITE QUEUE
                 "Begin Host\nHOST_NAME MXJ RESOURCES\nn1 4 %s\nn2 4 ()\nn3 4 ()\n"
                 "End Host\nBegin Resource\nRESOURCENAME TYPE\nscratch Numeric\n"
                 "lic Numeric\nEnd Resource\nBegin ResourceMap\n"
                 "RESOURCENAME LOCATION\nlic 2@[all]\nEnd ResourceMap\n",
                 wrong_words[i].words);
        check_complaint(wrong_words[i].words, text, wrong_words[i].complaint);
    }
    check_complaint("unknown",
                    SITE HOSTS QUEUE RESOURCES
                    "Begin ResourceMap\nRESOURCENAME "
                    "LOCATION\nmem 5@[n1]\nEnd ResourceMap\n",
                    "unknown resource \"mem\"");
    check_complaint("twice",
                    SITE HOSTS QUEUE RESOURCES
                    "Begin ResourceMap\nRESOURCENAME LOCATION\nscratch 5@[n1]\n"
                    "scratch 5@[n2]\nEnd ResourceMap\n",
                    "twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configured),
        cmocka_unit_test(test_undefined_words_are_booleans),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_local_resources),
        cmocka_unit_test(test_given_and_dynamic),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_values_of_hosts),
        cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_ncpus),
        cmocka_unit_test(test_complaints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
