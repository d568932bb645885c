/* SPDX-License-Identifier: Apache-2.0 */
/* egroup.c: see egroup.h. */
#include "site/io/egroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/conf/conf_value.h"
#include "sys/child.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    WITHIN_MS = 30000, /* that a call may take */
    LOOK_MS = 200,     /* between two looks at the program */
    KEPT_MAX = 1 << 20,
};

struct egroup {
    zloop_t *loop;
    char *spool; /* owned */
    void (*reload)(void *arg);
    void *arg;
    const struct egroup_list *list;
    struct child *child; /* of items[next]; NULL: none runs */
    int next;            /* as many as the list has: all have been asked for */
    bool has_changed;    /* members of one of them */
    bool is_reloading;
    int64_t due_ms; /* all are asked for again; INT64_MAX: never */
    int timer;      /* -1: none */
};

/* ---------------------------------------------------------------- what is kept */

static void path_of(char path[PATH_MAX], const char *spool,
                    const struct egroup_item *item)
{
    snprintf(path, PATH_MAX, "%s/egroup/%s.%s", spool, item->is_hosts ? "m" : "u",
             item->name);
}

/* On the heap, ended by a NUL; NULL: nothing is kept. */
static char *read_kept(const char *spool, const struct egroup_item *item)
{
    char path[PATH_MAX];
    path_of(path, spool, item);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    char *text = mem_alloc(KEPT_MAX + 1, 1);
    size_t length = fread(text, 1, KEPT_MAX, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static bool write_kept(const char *spool, const struct egroup_item *item,
                       const char *text)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    struct err err;
    snprintf(path, sizeof(path), "%s/egroup", spool);
    bool is_made = daemon_make_directory(path, 0700, &err) == 0;
    path_of(path, spool, item);
    bool is_whole = (size_t)snprintf(fresh, sizeof(fresh), "%s.new", path) < PATH_MAX;
    FILE *file = is_whole && is_made ? fopen(fresh, "we") : NULL;
    bool is_good = file != NULL && fputs(text, file) >= 0;
    is_good = file != NULL && fclose(file) == 0 && is_good;
    if (!is_good || rename(fresh, path) != 0) {
        log_line(LOG_LEVEL_WARNING, "egroup: cannot write \"%s\": %s", path,
                 strerror(errno));
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- the configuration */

static bool is_own_host(const struct conf *conf, const char *name)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, "Host", &at)) {
        if (strcmp(conf_text(at.row, "HOST_NAME", ""), name) == 0 ||
            strcmp(conf_text(at.row, "HOSTNAME", ""), name) == 0) {
            return true;
        }
    }
    return false;
}

/* "(a b c)" of what was kept, without what cannot be a member. */
static const char *members(struct conf *conf, const struct egroup_item *item,
                           const char *kept)
{
    struct arena *arena = conf->arena;
    struct conf_words words = conf_words(arena, kept);
    char *text = arena_alloc(arena, strlen(kept) + (size_t)words.count + 8, 1);
    size_t length = 0;
    text[length++] = '(';
    for (int i = 0; i < words.count; i++) {
        const char *word = words.words[i];
        bool is_good = conf_parse_name(word, NULL) == 0 &&
                       (!item->is_hosts || is_own_host(conf, word));
        if (!is_good) {
            log_line(LOG_LEVEL_WARNING,
                     "egroup: \"%.60s\" of group %s is no %s: left out", word,
                     item->name, item->is_hosts ? "host of the site" : "user");
            continue;
        }
        memcpy(text + length, word, strlen(word));
        length += strlen(word);
        text[length++] = ' ';
    }
    memcpy(text + length, ")", 2);
    return text;
}

static void fill_row(struct conf *conf, struct conf_row *row, bool is_hosts,
                     const char *spool, struct egroup_item *items,
                     struct egroup_list *list)
{
    const char *name = conf_text(row, "GROUP_NAME", NULL);
    for (int i = 0; i < row->n_cells && name != NULL; i++) {
        struct conf_cell *cell = &row->cells[i];
        struct conf_words words = conf_words(conf->arena, cell->value);
        if (strcasecmp(cell->key, "GROUP_MEMBER") != 0 || words.count != 1 ||
            strcmp(words.words[0], "!") != 0 || conf_parse_name(name, NULL) != 0) {
            continue;
        }
        struct egroup_item *item = &items[list->count++];
        *item = (struct egroup_item){name, is_hosts};
        char *kept = spool != NULL ? read_kept(spool, item) : NULL;
        if (kept != NULL) {
            cell->value = members(conf, item, kept);
        }
        free(kept);
    }
}

void egroup_fill(struct conf *conf, struct egroup_list *list)
{
    struct conf_place site = conf_value_last(conf, "Site", "EGROUP");
    struct conf_place spool = conf_value_last(conf, "Site", "SPOOL");
    struct conf_place every =
        conf_value_last(conf, "Parameters", "EGROUP_UPDATE_INTERVAL");
    size_t n_rows = (size_t)conf_count_rows(conf, "UserGroup") +
                    (size_t)conf_count_rows(conf, "HostGroup");
    struct egroup_item *items = arena_alloc(conf->arena, n_rows + 1, sizeof(*items));
    *list = (struct egroup_list){.items = items};
    list->program = site.row != NULL ? conf_text(site.row, "EGROUP", NULL) : NULL;
    list->interval_ms = conf_value_duration(conf, &every, "EGROUP_UPDATE_INTERVAL", 0);
    for (struct conf_section *section = conf->first;
         section != NULL && list->program != NULL; section = section->next) {
        bool is_hosts = strcasecmp(section->name, "HostGroup") == 0;
        for (int i = 0; (is_hosts || strcasecmp(section->name, "UserGroup") == 0) &&
                        i < section->n_rows;
             i++) {
            fill_row(conf, &section->rows[i], is_hosts,
                     spool.row != NULL ? conf_text(spool.row, "SPOOL", NULL) : NULL,
                     items, list);
        }
    }
}

/* ---------------------------------------------------------------- the program */

static void ask(struct egroup *egroup)
{
    const struct egroup_item *item = &egroup->list->items[egroup->next];
    const struct child_setting setting = {NULL, WITHIN_MS};
    const char *const words[] = {egroup->list->program, item->is_hosts ? "-m" : "-u",
                                 item->name, NULL};
    struct err err;
    if (child_new(&setting, words, daemon_now_ms(), &egroup->child, &err) < 0) {
        log_line(LOG_LEVEL_WARNING, "egroup: group %s keeps its members: %s",
                 item->name, err.text);
        egroup->child = NULL;
        egroup->next++;
    }
}

static void take_answer(struct egroup *egroup)
{
    const struct egroup_item *item = &egroup->list->items[egroup->next++];
    const char *text;
    struct err err;
    if (child_output(egroup->child, &text, &err) < 0) {
        log_line(LOG_LEVEL_WARNING, "egroup: group %s keeps its members: %s",
                 item->name, err.text);
    } else if (strlen(text) > KEPT_MAX) {
        log_line(LOG_LEVEL_WARNING,
                 "egroup: group %s keeps its members: more than %d "
                 "bytes were printed",
                 item->name, KEPT_MAX);
    } else {
        char *kept = read_kept(egroup->spool, item);
        bool is_other = kept == NULL || strcmp(kept, text) != 0;
        egroup->has_changed =
            (is_other && write_kept(egroup->spool, item, text)) || egroup->has_changed;
        free(kept);
    }
    child_free(egroup->child);
    egroup->child = NULL;
}

static bool is_done(const struct egroup *egroup)
{
    return egroup->list == NULL || egroup->next >= egroup->list->count;
}

static void begin(struct egroup *egroup)
{
    int64_t interval_ms = egroup->list->interval_ms;
    egroup->next = 0;
    egroup->has_changed = false;
    egroup->due_ms = interval_ms > 0 ? daemon_now_ms() + interval_ms : INT64_MAX;
}

static int on_look(zloop_t *loop, int timer, void *arg);

/* The next look: soon while the program runs, else when all are due again. */
static void arm(struct egroup *egroup)
{
    const int64_t most_ms = 3600000;
    int64_t wait_ms = is_done(egroup) ? egroup->due_ms - daemon_now_ms() : LOOK_MS;
    wait_ms = wait_ms > LOOK_MS ? wait_ms : LOOK_MS;
    if (egroup->timer >= 0) {
        zloop_timer_end(egroup->loop, egroup->timer);
    }
    egroup->timer =
        is_done(egroup) && egroup->due_ms == INT64_MAX
            ? -1
            : zloop_timer(egroup->loop, (size_t)(wait_ms < most_ms ? wait_ms : most_ms),
                          1, on_look, egroup);
}

static void look(struct egroup *egroup)
{
    if (is_done(egroup) && egroup->list != NULL && daemon_now_ms() >= egroup->due_ms) {
        begin(egroup);
    }
    if (is_done(egroup)) {
        return;
    }
    if (egroup->child == NULL) {
        ask(egroup);
    } else if (child_step(egroup->child, daemon_now_ms())) {
        take_answer(egroup);
    }
    if (is_done(egroup) && egroup->has_changed) {
        egroup->has_changed = false;
        log_line(LOG_LEVEL_NOTICE, "egroup: members of groups have changed: the "
                                   "configuration is reloaded");
        egroup->is_reloading = true;
        egroup->reload(egroup->arg);
        egroup->is_reloading = false;
    }
}

static int on_look(zloop_t *loop, int timer, void *arg)
{
    struct egroup *egroup = arg;
    (void)loop;
    (void)timer;
    egroup->timer = -1; /* it was for once */
    look(egroup);
    arm(egroup);
    return 0;
}

struct egroup *egroup_new(zloop_t *loop, const char *spool, void (*reload)(void *arg),
                          void *arg)
{
    struct egroup *egroup = mem_alloc(1, sizeof(*egroup));
    *egroup = (struct egroup){.loop = loop,
                              .spool = strdup(spool),
                              .reload = reload,
                              .arg = arg,
                              .due_ms = INT64_MAX,
                              .timer = -1};
    return egroup;
}

void egroup_free(struct egroup *egroup)
{
    if (egroup != NULL) {
        if (egroup->timer >= 0) {
            zloop_timer_end(egroup->loop, egroup->timer);
        }
        child_free(egroup->child);
        free(egroup->spool);
    }
    free(egroup);
}

void egroup_change(struct egroup *egroup, const struct egroup_list *list)
{
    if (egroup == NULL) {
        return; /* it begins with the configuration that is in force then */
    }
    child_free(egroup->child);
    egroup->child = NULL;
    egroup->list = list;
    if (egroup->is_reloading) {
        egroup->next = list->count; /* these are the ones that were just told */
        return;
    }
    begin(egroup);
    arm(egroup);
}
