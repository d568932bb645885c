/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_top.c: `sublet top`: sites and leases on the terminal, live.
 *
 * It fetches both listings every interval, and handles keys in between. A query may
 * block for up to 10 s. Without an answer it shows the last data with their time, and
 * continues to query. If standard output is not a terminal, or with --once, it prints
 * once and ends. Source: docs/design/interfaces.md "Command line". */
#include <jansson.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf/conf.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/listing/listing.h"
#include "cli/terminal/top_rows.h"
#include "sys/daemon.h"

const struct call_option cmd_top_options[] = {
    {"--once", NULL, "print once and exit; the default if the output is not a terminal",
     false},
    {"--interval", "TIME", "ask so often, whole seconds; default 1s", false},
    {"--filter", "WORDS", "leases with all of these in id, state or reason", false},
    {NULL, NULL, NULL, false},
};

enum {
    INTERVAL_MS = 1000,
    INTERVAL_MIN_MS = 1000,
    FILTER_SIZE = 64,
    PLAIN_WIDTH = 100, /* of the output if not on a terminal */
    ESCAPE = 27,
    PAIR_BAD = TOP_PARTS + 1,
};

struct top {
    struct call *call;
    struct connect *connect;
    struct listing sites, leases;
    char problem[512]; /* error of the last query; "": none */
    int64_t heard_ms;
    int64_t interval_ms;
    enum top_sort sort;
    bool is_reversed, is_typing, has_help;
    char filter[FILTER_SIZE];
    int first; /* row at the top */
};

/* ---------------------------------------------------------------- data */

static int fetch(struct top *top, struct err *err)
{
    struct listing sites = {0}, leases = {0};
    struct msg_query query = listing_query(QUERY_SITES);
    int rc = 0;
    if (top->connect == NULL) {
        rc = connect_new(top->call, &top->connect, err);
    }
    if (rc == 0) {
        rc = listing_fetch(&sites, top->connect, &query, err);
    }
    if (rc == 0) {
        query = listing_query(QUERY_LEASES);
        rc = listing_fetch(&leases, top->connect, &query, err);
    }
    if (rc < 0) {
        listing_free(&sites);
        listing_free(&leases);
        connect_free(top->connect);
        top->connect = NULL;
        snprintf(top->problem, sizeof(top->problem), "%s", err->text);
        return rc;
    }
    listing_free(&top->sites);
    listing_free(&top->leases);
    top->sites = sites;
    top->leases = leases;
    top->problem[0] = '\0';
    top->heard_ms = daemon_now_ms();
    return 0;
}

static int64_t slots_of(const json_t *site, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(site, "slots"), key));
}

static bool is_here(const json_t *site)
{
    const char *status = json_string_value(json_object_get(site, "status"));
    return status != NULL && strcmp(status, "ok") == 0;
}

/* ---------------------------------------------------------------- lines */

/* "1m30s", or "-" for none. */
static const char *describe(struct arena *arena, int64_t ms)
{
    if (ms < 0) {
        return "-";
    }
    json_t *seconds = json_integer(ms / 1000);
    const char *text = ms < 1000 ? "0s" : format_duration(arena, seconds);
    json_decref(seconds);
    return text;
}

static const char *summary_line(const struct top *top, const struct top_rows *rows,
                                struct arena *arena)
{
    long long own = 0, used = 0, lent = 0, pending = 0, here = 0;
    size_t i;
    json_t *site;
    json_array_foreach(top->sites.rows, i, site)
    {
        here += is_here(site);
        own += slots_of(site, "own");
        used += slots_of(site, "used");
        lent += slots_of(site, "lent");
        pending += json_integer_value(json_object_get(site, "pending"));
    }
    return arena_printf(arena,
                        "sites %lld of %zu   leases %d (%d inactive, %d disc)   own "
                        "slots %lld: %lld used, %lld lent   waited for %lld",
                        here, json_array_size(top->sites.rows), rows->n_all,
                        rows->n_inactive, rows->n_away, own, used, lent, pending);
}

static const char *site_line(const json_t *site, struct arena *arena)
{
    return arena_printf(
        arena, "%-20.20s %-5s %7lld %7lld %7lld %9lld %7lld %9lld",
        json_string_value(json_object_get(site, "site")), is_here(site) ? "ok" : "disc",
        (long long)slots_of(site, "own"), (long long)slots_of(site, "used"),
        (long long)slots_of(site, "lent"), (long long)slots_of(site, "borrowed"),
        (long long)slots_of(site, "idle"),
        (long long)json_integer_value(json_object_get(site, "pending")));
}

static const char site_heading[] =
    "SITE                 STATE     OWN    USED    LENT  BORROWED    FREE   WAITING";

/* Widths of the columns of a lease. */
struct widths {
    int id, bar, reason;
};

static struct widths widths_of(int columns)
{
    enum { FIXED = 9 + 8 + 8 + 5 };
    struct widths widths = {.id = 24, .bar = columns / 4};
    widths.bar = widths.bar < 10 ? 10 : widths.bar;
    widths.id = columns - FIXED - widths.bar < 44 ? 20 : 28;
    widths.reason = columns - FIXED - widths.bar - widths.id;
    widths.reason = widths.reason > 0 ? widths.reason : 0;
    return widths;
}

static const char *lease_heading(const struct widths *widths, struct arena *arena)
{
    return arena_printf(arena, "%-*s %-*s %-9s %8s %8s %s", widths->id, "LEASE",
                        widths->bar, "SLOTS", "STATE", "CHANGED", "NEXT", "REASON");
}

static const char *lease_tail(const struct top_lease *lease,
                              const struct widths *widths, struct arena *arena)
{
    return arena_printf(arena, " %-9.9s %8s %8s %.*s", lease->state,
                        describe(arena, lease->age_ms), describe(arena, lease->next_ms),
                        widths->reason, lease->reason);
}

static const char legend[] = "P provider uses  p provider idle  ~ in transit  "
                             "c consumer idle  C consumer uses";

/* ---------------------------------------------------------------- printed */

static int print_once(struct top *top)
{
    struct arena arena;
    struct top_rows rows;
    struct widths widths = widths_of(PLAIN_WIDTH);
    char bar[PLAIN_WIDTH + 1];
    size_t i;
    json_t *site;
    arena_init(&arena);
    top_rows_read(top->leases.rows, top->filter, top->sort, top->is_reversed,
                  daemon_now_ms(), &arena, &rows);
    printf("%s\n\n%s\n", summary_line(top, &rows, &arena), site_heading);
    json_array_foreach(top->sites.rows, i, site)
    {
        puts(site_line(site, &arena));
    }
    printf("\n%s\n", lease_heading(&widths, &arena));
    for (int at = 0; at < rows.count; at++) {
        top_rows_bar(rows.items[at].slots, widths.bar, bar);
        printf("%-*.*s %-*s%s\n", widths.id, widths.id, rows.items[at].id, widths.bar,
               bar, lease_tail(&rows.items[at], &widths, &arena));
    }
    printf("\n%s\n", legend);
    arena_release(&arena);
    return call_finish_output();
}

/* ---------------------------------------------------------------- drawn */

static void draw_bar(int y, int x, const char *bar)
{
    for (int i = 0; bar[i] != '\0'; i++) {
        const char *letter = strchr(top_rows_letters, bar[i]);
        int part = letter != NULL ? (int)(letter - top_rows_letters) : 0;
        mvaddch(y, x + i, (chtype)(unsigned char)bar[i] | (chtype)COLOR_PAIR(part + 1));
    }
}

static int draw_head(const struct top *top, const struct top_rows *rows,
                     struct arena *arena)
{
    char line[600];
    int y = 0;
    attron(A_BOLD);
    mvaddnstr(y++, 0, summary_line(top, rows, arena), COLS);
    attroff(A_BOLD);
    if (top->problem[0] != '\0') {
        snprintf(line, sizeof(line), "no answer for %s: %s",
                 describe(arena, daemon_now_ms() - top->heard_ms), top->problem);
        attron(COLOR_PAIR(PAIR_BAD) | A_BOLD);
        mvaddnstr(y++, 0, line, COLS);
        attroff(COLOR_PAIR(PAIR_BAD) | A_BOLD);
    }
    snprintf(line, sizeof(line), "sorted by %s%s%s%s%s", top_rows_sort_name(top->sort),
             top->is_reversed ? ", reversed" : "",
             top->filter[0] != '\0' || top->is_typing ? "   filter: " : "", top->filter,
             top->is_typing ? "_" : "   (h: keys)");
    mvaddnstr(y++, 0, line, COLS);
    return y + 1;
}

/* Uses at most a third of the screen; sites that are not connected come first. */
static int draw_sites(const struct top *top, int y, struct arena *arena)
{
    int last = y + 1 + (LINES - y) / 3;
    size_t i;
    json_t *site;
    attron(A_REVERSE);
    mvaddnstr(y++, 0, site_heading, COLS);
    attroff(A_REVERSE);
    for (int wants_here = 0; wants_here < 2; wants_here++) {
        json_array_foreach(top->sites.rows, i, site)
        {
            if (is_here(site) != (wants_here == 1) || y >= last) {
                continue;
            }
            chtype colour = is_here(site) ? 0 : (chtype)COLOR_PAIR(PAIR_BAD);
            attron(colour);
            mvaddnstr(y++, 0, site_line(site, arena), COLS);
            attroff(colour);
        }
    }
    return y + 1;
}

static void draw_leases(struct top *top, int y, const struct top_rows *rows,
                        struct arena *arena)
{
    struct widths widths = widths_of(COLS);
    char *bar = arena_alloc(arena, (size_t)widths.bar + 1, 1);
    int n_lines = LINES - y - 2;
    int last_first = rows->count > n_lines ? rows->count - n_lines : 0;
    top->first = top->first > last_first ? last_first : top->first;
    attron(A_REVERSE);
    mvaddnstr(y++, 0, lease_heading(&widths, arena), COLS);
    attroff(A_REVERSE);
    for (int i = top->first; i < rows->count && y < LINES - 1; i++, y++) {
        const struct top_lease *lease = &rows->items[i];
        top_rows_bar(lease->slots, widths.bar, bar);
        mvaddnstr(y, 0, lease->id, widths.id);
        draw_bar(y, widths.id + 1, bar);
        mvaddnstr(y, widths.id + 1 + widths.bar, lease_tail(lease, &widths, arena),
                  COLS - widths.id - 1 - widths.bar);
    }
    if (rows->count == 0) {
        mvaddnstr(y, 0, rows->n_all > 0 ? "no lease fits the filter" : "no lease yet",
                  COLS);
    }
}

static void draw_help(int y)
{
    static const char *const lines[] = {
        "q         ends",
        "s  S      sorts by the next column, or the one before",
        "r         reverses the order",
        "/         filters by words; Enter applies the filter, Esc clears it",
        "up down PgUp PgDn Home End   moves through the leases",
        "h         shows or hides these keys",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        mvaddnstr(y + (int)i, 2, lines[i], COLS - 2);
    }
}

static void draw(struct top *top)
{
    struct arena arena;
    struct top_rows rows;
    arena_init(&arena);
    top_rows_read(top->leases.rows, top->filter, top->sort, top->is_reversed,
                  daemon_now_ms(), &arena, &rows);
    erase();
    int y = draw_head(top, &rows, &arena);
    if (top->has_help) {
        draw_help(y);
    } else {
        y = draw_sites(top, y, &arena);
        draw_leases(top, y, &rows, &arena);
        mvaddnstr(LINES - 1, 0, legend, COLS - 1);
    }
    refresh();
    arena_release(&arena);
}

/* ---------------------------------------------------------------- keys */

static void type_key(struct top *top, int key)
{
    size_t length = strlen(top->filter);
    if (key == '\n' || key == '\r' || key == KEY_ENTER) {
        top->is_typing = false;
    } else if (key == ESCAPE) {
        top->is_typing = false;
        top->filter[0] = '\0';
    } else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
        top->filter[length > 0 ? length - 1 : 0] = '\0';
    } else if (key >= ' ' && key <= '~' && length + 1 < sizeof(top->filter)) {
        top->filter[length] = (char)key;
        top->filter[length + 1] = '\0';
    }
}

static void move_to(struct top *top, int first)
{
    top->first = first > 0 ? first : 0; /* drawing limits it to the last row */
}

/* False to quit. */
static bool handle_key(struct top *top, int key)
{
    int page = LINES / 2;
    if (top->is_typing) {
        type_key(top, key);
        return true;
    }
    switch (key) {
    case 'q':
        return false;
    case 's':
        top->sort = (enum top_sort)((top->sort + 1) % TOP_SORTS);
        break;
    case 'S':
        top->sort = (enum top_sort)((top->sort + TOP_SORTS - 1) % TOP_SORTS);
        break;
    case 'r':
        top->is_reversed = !top->is_reversed;
        break;
    case '/':
        top->is_typing = true;
        top->filter[0] = '\0';
        break;
    case ESCAPE:
        top->filter[0] = '\0';
        break;
    case 'h':
    case '?':
        top->has_help = !top->has_help;
        break;
    case KEY_UP:
    case KEY_DOWN:
        move_to(top, top->first + (key == KEY_DOWN ? 1 : -1));
        break;
    case KEY_PPAGE:
    case KEY_NPAGE:
        move_to(top, top->first + (key == KEY_NPAGE ? page : -page));
        break;
    case KEY_HOME:
    case KEY_END:
        move_to(top, key == KEY_END ? INT32_MAX - 1 : 0);
        break;
    default:
        break;
    }
    return true;
}

/* ---------------------------------------------------------------- the screen */

static void open_screen(void)
{
    static const short colours[TOP_PARTS][2] = {{COLOR_WHITE, COLOR_BLUE},
                                                {COLOR_BLACK, COLOR_CYAN},
                                                {COLOR_BLACK, COLOR_WHITE},
                                                {COLOR_BLACK, COLOR_YELLOW},
                                                {COLOR_WHITE, COLOR_RED}};
    initscr();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    const char *no_colour = getenv("NO_COLOR");
    if (has_colors() && (no_colour == NULL || no_colour[0] == '\0')) {
        start_color();
        use_default_colors();
        for (short i = 0; i < TOP_PARTS; i++) {
            init_pair((short)(i + 1), colours[i][0], colours[i][1]);
        }
        init_pair(PAIR_BAD, COLOR_RED, -1);
    }
}

static void run_screen(struct top *top)
{
    struct err err;
    int64_t next_ms = daemon_now_ms() + top->interval_ms;
    bool is_on = true;
    open_screen();
    while (is_on && !zsys_interrupted) {
        draw(top);
        int64_t left_ms = next_ms - daemon_now_ms();
        timeout(left_ms > 0 ? (int)left_ms : 0);
        int key = getch();
        if (key != ERR && key != KEY_RESIZE) {
            is_on = handle_key(top, key);
        } else if (daemon_now_ms() >= next_ms) {
            (void)fetch(top, &err); /* draw shows the error */
            next_ms = daemon_now_ms() + top->interval_ms;
        }
    }
    endwin();
}

static int read_options(struct call *call, struct top *top)
{
    const char *interval = call_value(call, "--interval");
    const char *filter = call_value(call, "--filter");
    struct err err;
    top->interval_ms = INTERVAL_MS;
    if (call->n_operands > 0) {
        return call_misuse(call, "expected no operand");
    }
    if (interval != NULL &&
        (conf_parse_duration(interval, 1000, &top->interval_ms, &err) < 0 ||
         top->interval_ms < INTERVAL_MIN_MS)) {
        return call_misuse(call, "--interval: '%s', expected a time of 1s or more",
                           interval);
    }
    if (filter != NULL && strlen(filter) >= sizeof(top->filter)) {
        return call_misuse(call, "--filter: expected less than %d characters",
                           FILTER_SIZE);
    }
    snprintf(top->filter, sizeof(top->filter), "%s", filter != NULL ? filter : "");
    return CALL_OK;
}

int cmd_top_run(struct call *call)
{
    struct top top = {.call = call};
    struct err err;
    int status = read_options(call, &top);
    if (status != CALL_OK) {
        return status;
    }
    if (fetch(&top, &err) < 0) {
        status = call_fail_err(&err);
    } else if (call_has(call, "--once") || !isatty(STDOUT_FILENO) ||
               !isatty(STDIN_FILENO)) {
        status = print_once(&top);
    } else {
        run_screen(&top);
    }
    listing_free(&top.sites);
    listing_free(&top.leases);
    connect_free(top.connect);
    return status;
}
