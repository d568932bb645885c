/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf.c: LSF's file syntax; errors have their line.
 *
 * The files of tests/data/conf are read and checked too: NAME.conf gives the lines of
 * NAME.expected, as `sublet check` prints them. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "base/conf/conf_keys.h"
#include "base/rng.h"

static struct arena arena;
static struct conf conf;

static int open_conf(void **state)
{
    arena_init(&arena);
    conf_init(&conf, &arena);
    return 0;
}

static int close_conf(void **state)
{
    arena_release(&arena);
    return 0;
}

static void read_text(const char *text)
{
    conf_read(&conf, "f", text, strlen(text));
}

/* All diagnostics, one per line, as the command line prints them. */
static const char *diagnostics_text(void)
{
    const char *text = "";
    for (const struct conf_diag *diag = conf.diags; diag != NULL; diag = diag->next) {
        text =
            arena_printf(&arena, "%s%s:%d: %s: %s%s%s\n", text, diag->file, diag->line,
                         diag->severity == CONF_ERROR ? "error" : "warning",
                         diag->key != NULL ? diag->key : "",
                         diag->key != NULL ? ": " : "", diag->text);
    }
    return text;
}

/* ------------------------------------------------------------ what is read */

static void keyed_sections_are_one_row(void **state)
{
    read_text("Begin Queue\n"
              "QUEUE_NAME = normal\n"
              "PRIORITY=30\n"
              "Hosts= a b   # two of them\n"
              "End Queue\n");
    const struct conf_section *section = conf_next(&conf, "QUEUE", NULL);
    assert_non_null(section);
    assert_string_equal(section->name, "Queue");
    assert_string_equal(section->file, "f");
    assert_int_equal(section->line, 1);
    assert_false(section->is_table);
    assert_int_equal(section->n_rows, 1);
    const struct conf_row *row = &section->rows[0];
    assert_int_equal(row->n_cells, 3);
    assert_string_equal(conf_text(row, "queue_name", "?"), "normal");
    assert_string_equal(conf_text(row, "PRIORITY", "?"), "30");
    assert_string_equal(conf_text(row, "HOSTS", "?"), "a b");
    assert_int_equal(conf_cell(row, "HOSTS")->line, 4);
    assert_string_equal(conf_cell(row, "HOSTS")->key, "HOSTS");
    assert_null(conf_cell(row, "USERS"));
    assert_null(conf_text(row, "USERS", NULL));
    assert_string_equal(diagnostics_text(), "");
}

static void tables_have_a_heading(void **state)
{
    read_text("Begin Host\n"
              "HOST_NAME  MXJ  type    RESOURCES\n"
              "n1         4    X86_64  (linux bigmem)   # the large one\n"
              "\n"
              "n2         -    ()      \"a b\"\n"
              "End Host\n");
    const struct conf_section *section = conf_next(&conf, "Host", NULL);
    assert_true(section->is_table);
    assert_int_equal(section->n_columns, 4);
    assert_string_equal(section->columns[2], "TYPE");
    assert_int_equal(section->n_rows, 2);
    assert_string_equal(conf_text(&section->rows[0], "RESOURCES", "?"),
                        "(linux bigmem)");
    assert_int_equal(section->rows[0].line, 3);
    assert_int_equal(section->rows[1].line, 5);
    assert_string_equal(conf_text(&section->rows[1], "RESOURCES", "?"), "a b");
    assert_non_null(conf_cell(&section->rows[1], "MXJ"));
    assert_null(conf_cell(&section->rows[1], "MXJ")->value);
    assert_null(conf_cell(&section->rows[1], "TYPE")->value);
    assert_string_equal(diagnostics_text(), "");
}

static void sections_come_in_their_order(void **state)
{
    read_text("A=1\nBegin Queue\nEnd Queue\nB=2\nBegin Host\nEnd Host\n");
    read_text("Begin Queue\nPRIORITY=1\nEnd Queue\nC=3\n");
    const struct conf_section *outside = conf_next(&conf, "", NULL);
    assert_int_equal(outside->rows[0].n_cells, 2);
    assert_string_equal(conf_text(&outside->rows[0], "B", "?"), "2");
    outside = conf_next(&conf, "", outside);
    assert_string_equal(conf_text(&outside->rows[0], "C", "?"), "3");
    assert_null(conf_next(&conf, "", outside));
    const struct conf_section *queue = conf_next(&conf, "queue", NULL);
    assert_int_equal(queue->n_rows, 1);
    assert_int_equal(queue->rows[0].n_cells, 0);
    queue = conf_next(&conf, "queue", queue);
    assert_int_equal(queue->rows[0].n_cells, 1);
    assert_null(conf_next(&conf, "queue", queue));
    assert_string_equal(diagnostics_text(), "");
}

/* Also of names that no table has, however they are written. */
static void sections_of_a_name_are_found(void **state)
{
    const char *found = "";
    struct conf_place at = {0};
    assert_null(conf_next(&conf, "Odd", NULL));
    read_text("Begin Odd\nX = a\nEnd Odd\nBegin Limit\nSLOTS = 1\nEnd Limit\n"
              "Begin ODD\nX = b\nEnd ODD\n");
    read_text("Begin Host\nEnd Host\nBegin odd\nX = c\nEnd odd\n");
    while (conf_next_row(&conf, "oDD", &at)) {
        found = arena_printf(&arena, "%s%s", found, conf_text(at.row, "X", "?"));
    }
    assert_string_equal(found, "abc");
    assert_int_equal(conf_count_rows(&conf, "limit"), 1);
    assert_int_equal(conf_count_rows(&conf, "Queue"), 0);
}

/* One line in a keyed section: what value does it give? */
static const struct {
    const char *line;
    const char *value; /* NULL: unset */
    const char *why;
} values[] = {
    {"K = a b c", "a b c", "the rest of the line"},
    {"  K\t=\ta  ", "a", "blanks around"},
    {"K = \"a # b\"", "a # b", "no comment inside quotes"},
    {"K = a#b", "a", "a comment needs no blank"},
    {"K = \"\"", "", "an empty text is a value"},
    {"K = \"a\" \"b\"", "\"a\" \"b\"", "quotes not around the whole stay"},
    {"K = -", NULL, "unset"},
    {"K = ()", NULL, "unset"},
    {"K = (  )", NULL, "unset"},
    {"K = \"-\"", "-", "a quoted - is text"},
    {"K = a=b", "a=b", "the first = counts"},
    {"K = ([s, 1] [t, 2])", "([s, 1] [t, 2])", "parentheses stay"},
    {"K = a \\\n b", "a  b", "continued"},
    {"K = a \\\r\n b\r", "a  b", "continued, CR LF"},
    {"K = \"a \\\n # b\"", "a  # b", "quotes are open across a continuation"},
    {"K = a # no continuation \\", "a", "a comment does not go on"},
    {"K = \xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "UTF-8"},
};

static void values_are_as_written(void **state)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        conf_init(&conf, &arena);
        read_text(arena_printf(&arena, "Begin Q\nK0 = 0\n%s\nEnd Q\n", values[i].line));
        const struct conf_cell *cell = conf_cell(&conf.first->rows[0], "K");
        bool same =
            cell != NULL &&
            (values[i].value == NULL
                 ? cell->value == NULL
                 : cell->value != NULL && strcmp(cell->value, values[i].value) == 0);
        if (!same || conf.diags != NULL) {
            fail_msg("%s: \"%s\": %s", values[i].why,
                     cell != NULL && cell->value != NULL ? cell->value : "-",
                     diagnostics_text());
        }
    }
}

/* What is wrong with the syntax, and that the rest is still read: LAST = 1 follows. */
static const struct {
    const char *text;
    const char *diagnostics_text;
} wrongs[] = {
    {"Begin Q\nX = 1\n",
     "f:1: error: section Q of line 1 is not ended, expected End Q\n"},
    {"Begin Q\nX = 1\nBegin R\nEnd R\n",
     "f:3: error: section Q of line 1 is not ended, expected End Q\n"},
    {"Begin Q\nEnd R\n",
     "f:2: error: End R closes section Q of line 1, expected End Q\n"},
    {"Begin Q\nEnd\n", "f:2: error: End  closes section Q of line 1, expected End Q\n"},
    {"End Q\n", "f:1: error: End without Begin, expected Begin NAME\n"},
    {"Begin\nX = 1\nEnd\n",
     "f:1: error: Begin without a section's name, expected Begin NAME\n"},
    {"Begin Q R\nEnd Q\n",
     "f:1: error: text behind a section's name, expected Begin NAME\n"},
    {"Begin Q\nX = 1\nY\nEnd Q\n",
     "f:3: error: malformed line, expected KEY = value\n"},
    {"Begin Q\nX = 1\n= 2\nEnd Q\n",
     "f:3: error: malformed line, expected KEY = value\n"},
    {"Begin Q\nX Y = 1\nEnd Q\n", "f:2: error: malformed line, expected KEY = value\n"},
    {"Begin Q\nX =\nEnd Q\n",
     "f:2: error: X: no value, expected a value, or - or () if it is unset\n"},
    {"Begin Q\nX = \"1\nEnd Q\n",
     "f:2: error: quote not closed, expected another \"\n"},
    {"Begin Q\nX Y\n1\n1 2 3\n1 2\nEnd Q\n",
     "f:3: error: 1 cells, expected 2 as in the heading (- if unset)\nf:4: error: 3 "
     "cells, expected 2 as in the heading (- if unset)\n"},
    {"Begin Q\nX Y\n(1 2\n1) 2\nEnd Q\n",
     "f:3: error: parentheses do not pair, expected each closed in its cell\n"
     "f:4: error: parentheses do not pair, expected each closed in its cell\n"},
    {"Begin Q\nX x\n1 2\nEnd Q\n",
     "f:2: error: X: given twice in the heading, expected once\n"},
    {"Begin Q\nX $\n1 2\nEnd Q\n",
     "f:2: error: malformed heading, expected keys, or KEY = value\n"},
    {"Begin Q\nX = a\x01z\nY = \xff\nZ = \xed\xa0\x80\nEnd Q\n",
     "f:2: error: bytes that are no text, expected UTF-8 without control characters\n"
     "f:3: error: bytes that are no text, expected UTF-8 without control characters\n"
     "f:4: error: bytes that are no text, expected UTF-8 without control characters\n"},
    {"NOTHING\n", "f:1: error: malformed line, expected KEY = value\n"},
    {"Dear all,\n\n# we meet\nat noon\nin the hall\nand X = 1\n",
     "f:1: error: not a configuration file, expected lines KEY = value, and sections "
     "from Begin NAME to End NAME\n"},
    {"hello there\nthis is text\n",
     "f:1: error: not a configuration file, expected lines KEY = value, and sections "
     "from Begin NAME to End NAME\n"},
    {"\n# we meet\nat noon\n", "f:3: error: malformed line, expected KEY = value\n"},
    {"Dear all,\nat noon\nX = 1\n",
     "f:1: error: malformed line, expected KEY = value\n"
     "f:2: error: malformed line, expected KEY = value\n"},
    {"one\ntwo\n begin Q\nX = 1\nEnd Q\n",
     "f:1: error: malformed line, expected KEY = value\n"
     "f:2: error: malformed line, expected KEY = value\n"},
};

static void wrong_syntax_is_told_by_line(void **state)
{
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        conf_init(&conf, &arena);
        read_text(wrongs[i].text);
        read_text("LAST = 1\n");
        if (strcmp(diagnostics_text(), wrongs[i].diagnostics_text) != 0) {
            fail_msg("%s\ntold: %s\nexpected: %s", wrongs[i].text, diagnostics_text(),
                     wrongs[i].diagnostics_text);
        }
        assert_string_equal(conf.last->rows[0].cells[0].value, "1");
    }
}

static void a_file_may_end_in_the_middle(void **state)
{
    read_text("A = 1 \\");
    assert_string_equal(
        diagnostics_text(),
        "f:1: error: \\ at the end of the file, expected a continuation line\n");
    assert_string_equal(conf_text(&conf.first->rows[0], "A", "?"), "1");
}

static void a_nul_byte_is_no_text(void **state)
{
    conf_read(&conf, "f", "A = 1\0 2\n", 9);
    assert_int_equal(conf.n_errors, 1);
    assert_string_equal(conf_text(&conf.first->rows[0], "A", "?"), "1? 2");
}

static void a_byte_order_mark_is_skipped(void **state)
{
    read_text("\xef\xbb\xbf"
              "A = 1\n");
    assert_string_equal(conf_text(&conf.first->rows[0], "A", "?"), "1");
    assert_string_equal(diagnostics_text(), "");
}

static void lines_have_any_length(void **state)
{
    for (int n = 1; n < 1100; n++) {
        conf_init(&conf, &arena);
        read_text(
            arena_printf(&arena, "A = %0*d\nB = %0*d\\\n%0*d\n", n, 1, n, 2, n, 3));
        const char *b = conf_text(&conf.first->rows[0], "B", "?");
        assert_string_equal(conf_text(&conf.first->rows[0], "A", "?"),
                            arena_printf(&arena, "%0*d", n, 1));
        assert_string_equal(b, arena_printf(&arena, "%0*d%0*d", n, 2, n, 3));
        assert_string_equal(diagnostics_text(), "");
    }
}

static void lines_and_sections_are_bounded(void **state)
{
    char *line = arena_printf(&arena, "A = %0*d\nB = 1\n", 70000, 1);
    read_text(line);
    assert_string_equal(diagnostics_text(),
                        "f:1: error: line too long, expected at most 65536 bytes\n");
    assert_string_equal(conf_text(&conf.first->rows[0], "B", "?"), "1");

    conf_init(&conf, &arena);
    for (int i = 0; i < 600; i++) { /* one file a line: sections of their own */
        read_text(arena_printf(&arena, "K%d = 1\n", i));
    }
    assert_int_equal(conf.n_errors, 0);
    char *text = "";
    for (int i = 0; i < 520; i++) {
        text = arena_printf(&arena, "%sK%d = 1\n", text, i);
    }
    read_text(text);
    assert_int_equal(conf.n_errors, 8);
}

static void complaints_are_bounded(void **state)
{
    char *text = arena_alloc(&arena, 1, 20005);
    memcpy(text, "X=1\n", 4);
    for (size_t i = 4; i < 20004; i += 2) {
        memcpy(text + i, "x\n", 2);
    }
    read_text(text);
    assert_int_equal(conf.n_errors, 10000);
    int kept = 0;
    for (const struct conf_diag *diag = conf.diags; diag != NULL; diag = diag->next) {
        kept++;
    }
    assert_int_equal(kept, 1000);
}

static void any_bytes_will_do(void **state)
{
    static const char *parts[] = {"Begin ", "End ", "Queue", "\n",       "\r\n", "=",
                                  "\"",     "(",    ")",     "[",        "]",    "#",
                                  "\\",     "\\\n", " ",     "HOSTS",    "-",    "()",
                                  "a",      "\x80", "\t",    "KEY = v\n"};
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct arena own;
        struct rng rng;
        char text[600];
        size_t used = 0;
        rng_init(&rng, seed);
        while (used < 500) {
            const char *part = parts[rng_below(&rng, sizeof(parts) / sizeof(parts[0]))];
            size_t length = strlen(part);
            if (rng_percent(&rng, 3)) {
                text[used++] = (char)rng_below(&rng, 256);
            }
            memcpy(text + used, part, length);
            used += length;
        }
        char *exact = malloc(used); /* so that reading behind it is seen */
        memcpy(exact, text, used);
        arena_init(&own);
        conf_init(&conf, &own);
        conf_read(&conf, "f", exact, used);
        free(exact);
        conf_check(&conf);
        for (const struct conf_section *section = conf.first; section != NULL;
             section = section->next) {
            assert_true(section->is_table || section->n_rows == 1);
        }
        arena_release(&own);
    }
}

/* ------------------------------------------------------------ values */

static void lists_become_words(void **state)
{
    static const struct {
        const char *value;
        const char *words; /* each in < > */
    } rows[] = {
        {NULL, ""},
        {"", ""},
        {"a", "<a>"},
        {" a  b\tc ", "<a><b><c>"},
        {"(a b c)", "<a><b><c>"},
        {"( )", ""},
        {"([south, 1] [north, 2])", "<[south, 1]><[north, 2]>"},
        {"[south, 1] [north, 2]", "<[south, 1]><[north, 2]>"},
        {"(a) (b)", "<(a)><(b)>"},
        {"((a b) c)", "<(a b)><c>"},
        {"\"a b\" c", "<a b><c>"},
        {"(a", "<(a>"},
        {"a) b", "<a)><b>"},
        {"(", "<(>"},
        {"\"", "<\">"},
        {"all ~h1 h2+1", "<all><~h1><h2+1>"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct conf_words words = conf_words(&arena, rows[i].value);
        const char *text = "";
        for (int k = 0; k < words.count; k++) {
            text = arena_printf(&arena, "%s<%s>", text, words.words[k]);
        }
        assert_string_equal(text, rows[i].words);
    }
}

static void numbers_are_whole_and_bounded(void **state)
{
    struct err err;
    int64_t out = 77;
    assert_int_equal(conf_parse_int("4", 0, 10, &out, &err), 0);
    assert_int_equal(out, 4);
    assert_int_equal(conf_parse_int("-4", -10, 10, &out, &err), 0);
    assert_int_equal(out, -4);
    assert_int_equal(conf_parse_int("+4", -10, 10, &out, &err), 0);
    assert_int_equal(out, 4);
    assert_int_equal(conf_parse_int("11", 0, 10, &out, &err), ERR_BOUNDS);
    assert_string_equal(err.text, "11 is out of bounds, expected 0 to 10");
    assert_int_equal(conf_parse_int("-1", 0, 10, &out, &err), ERR_BOUNDS);
    assert_int_equal(conf_parse_int("99999999999999999999", 0, INT64_MAX, &out, &err),
                     ERR_BOUNDS);
    static const char *const malformed[] = {"",   "-",  "x",   "4x",
                                            "4 ", " 4", "4.0", "0x4"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        assert_int_equal(conf_parse_int(malformed[i], 0, 10, &out, &err), ERR_PARSE);
    }
    assert_int_equal(conf_parse_int(NULL, 0, 10, &out, &err), ERR_PARSE);
    assert_int_equal(out, 4);
    assert_int_equal(conf_parse_int("four", 0, 10, &out, &err), ERR_PARSE);
    assert_string_equal(err.text, "\"four\" is not a whole number, expected 0 to 10");
}

static void yes_and_no(void **state)
{
    struct err err;
    bool flag = false;
    assert_int_equal(conf_parse_bool("y", &flag, &err), 0);
    assert_true(flag);
    assert_int_equal(conf_parse_bool("N", &flag, &err), 0);
    assert_false(flag);
    assert_int_equal(conf_parse_bool("1", &flag, &err), ERR_PARSE);
    assert_string_equal(err.text, "\"1\" is neither yes nor no, expected Y or N");
    assert_int_equal(conf_parse_bool(NULL, &flag, &err), ERR_PARSE);
}

static void durations_have_units(void **state)
{
    static const struct {
        const char *value;
        int64_t unit_ms;
        int code;
        int64_t ms;
    } rows[] = {
        {"10", 60000, 0, 600000},
        {"10s", 60000, 0, 10000},
        {"2m", 1000, 0, 120000},
        {"2h", 1000, 0, 7200000},
        {"1d", 1000, 0, 86400000},
        {"1D", 1000, 0, 86400000},
        {"0", 1000, 0, 0},
        {"", 1000, ERR_PARSE, 0},
        {NULL, 1000, ERR_PARSE, 0},
        {"s", 1000, ERR_PARSE, 0},
        {"10 s", 1000, ERR_PARSE, 0},
        {"10ms", 1000, ERR_PARSE, 0},
        {"-1", 1000, ERR_PARSE, 0},
        {"1.5h", 1000, ERR_PARSE, 0},
        {"9223372036854775807d", 1000, ERR_BOUNDS, 0},
        {"99999999999999999999", 1000, ERR_BOUNDS, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err;
        int64_t ms = 0;
        assert_int_equal(conf_parse_duration(rows[i].value, rows[i].unit_ms, &ms, &err),
                         rows[i].code);
        assert_int_equal(ms, rows[i].ms);
    }
}

static void names_are_plain(void **state)
{
    struct err err;
    char name[NAME_SIZE + 1];
    memset(name, 'n', NAME_SIZE);
    name[NAME_SIZE] = '\0';
    assert_int_equal(conf_parse_name(name, &err), ERR_BOUNDS);
    assert_int_equal(conf_parse_name(name + 1, &err), 0);
    assert_int_equal(conf_parse_name("n1.example-2_x", &err), 0);
    assert_int_equal(conf_parse_name("", &err), ERR_PARSE);
    assert_int_equal(conf_parse_name(NULL, &err), ERR_PARSE);
    assert_int_equal(conf_parse_name("-n", &err), ERR_PARSE);
    assert_int_equal(conf_parse_name("a/b", &err), ERR_PARSE);
    assert_int_equal(conf_parse_name("a b", &err), ERR_PARSE);
}

static void an_address_has_a_port(void **state)
{
    static const struct {
        const char *value, *host, *port; /* NULL: refused */
    } rows[] = {
        {"127.0.0.1:80", "127.0.0.1", "80"},
        {"[::1]:5571", "::1", "5571"},
        {"*:65535", "*", "65535"},
        {"broker.example:1", "broker.example", "1"},
        {"::1:80", NULL, NULL},
        {":80", NULL, NULL},
        {"[]:80", NULL, NULL},
        {"host", NULL, NULL},
        {"host:", NULL, NULL},
        {"host:0", NULL, NULL},
        {"host:65536", NULL, NULL},
        {"host:8o", NULL, NULL},
        {"host:000080", NULL, NULL},
        {"host:-1", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *host, *port;
        struct err err = {0};
        int rc = conf_parse_address(rows[i].value, &arena, &host, &port, &err);
        assert_int_equal(rc, rows[i].host != NULL ? 0 : ERR_PARSE);
        if (rc == 0) {
            assert_string_equal(host, rows[i].host);
            assert_string_equal(port, rows[i].port);
        } else {
            assert_non_null(strstr(err.text, rows[i].value));
        }
    }
}

/* ------------------------------------------------------------ the table */

static void the_table_agrees_with_itself(void **state)
{
    for (const struct conf_key *key = conf_keys; key->section != NULL; key++) {
        assert_non_null(key->what);
        assert_ptr_equal(conf_keys_find(key->section, key->key),
                         key); /* no key twice */
        if (key->initial == NULL) {
            continue;
        }
        conf_init(&conf, &arena); /* a default is a value that is allowed */
        read_text(arena_printf(&arena, "Begin %s\n%s = %s\nEnd %s\n", key->section,
                               key->key, key->initial, key->section));
        conf_check(&conf);
        assert_string_equal(diagnostics_text(), "");
    }
    assert_string_equal(conf_keys_of("hostexport")->section, "HostExport");
    assert_null(conf_keys_of("Nothing"));
    assert_null(conf_keys_among(conf_keys_of("Nothing"), "NAME"));
    assert_null(conf_keys_find("Queue", "Nothing"));
    assert_ptr_equal(conf_keys_find("queue", "hosts"),
                     conf_keys_find("Queue", "HOSTS"));
}

/* ------------------------------------------------------------ the data files */

static char *whole_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s cannot be read", path);
    }
    char *text = arena_alloc(&arena, 1, 65536);
    *length = fread(text, 1, 65535, file);
    fclose(file);
    return text;
}

static void files_are_judged_as_expected(void **state)
{
    static const char folder[] = "tests/data/conf";
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int n_files = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        size_t stem = strlen(entry->d_name);
        if (stem < 5 || strcmp(entry->d_name + stem - 5, ".conf") != 0) {
            continue;
        }
        conf_init(&conf, &arena);
        size_t length, ignored;
        const char *text =
            whole_file(arena_printf(&arena, "%s/%s", folder, entry->d_name), &length);
        const char *expected =
            whole_file(arena_printf(&arena, "%s/%.*s.expected", folder, (int)stem - 5,
                                    entry->d_name),
                       &ignored);
        conf_read(&conf, entry->d_name, text, length);
        conf_check(&conf);
        if (strcmp(diagnostics_text(), expected) != 0) {
            fail_msg("%s\ntold:\n%s\nexpected:\n%s", entry->d_name, diagnostics_text(),
                     expected);
        }
        n_files++;
    }
    closedir(dir);
    assert_true(n_files >= 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_conf, close_conf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keyed_sections_are_one_row),
        TEST(tables_have_a_heading),
        TEST(sections_come_in_their_order),
        TEST(sections_of_a_name_are_found),
        TEST(values_are_as_written),
        TEST(wrong_syntax_is_told_by_line),
        TEST(a_file_may_end_in_the_middle),
        TEST(a_nul_byte_is_no_text),
        TEST(a_byte_order_mark_is_skipped),
        TEST(lines_have_any_length),
        TEST(lines_and_sections_are_bounded),
        TEST(complaints_are_bounded),
        TEST(any_bytes_will_do),
        TEST(lists_become_words),
        TEST(numbers_are_whole_and_bounded),
        TEST(yes_and_no),
        TEST(durations_have_units),
        TEST(names_are_plain),
        TEST(an_address_has_a_port),
        TEST(the_table_agrees_with_itself),
        TEST(files_are_judged_as_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
