/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: see queue.h. A HOSTS list is parsed into terms once; a host is allowed or
 * not by comparing it with all of them. */
#include "sched/queue/queue.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_value.h"

/* Where diagnostics go, and the hosts that there are. */
struct reader {
    struct conf *conf;
    struct conf_place at;
    const struct groups *groups;
    int64_t accept_ms; /* default, of section Parameters */
};

#define COMPLAIN(reader, key, ...)                                                     \
    CONF_COMPLAIN((reader)->conf, CONF_ERROR, &(reader)->at, key, __VA_ARGS__)

static bool is_own_host(const struct reader *reader, const char *name)
{
    const struct name_set own = {.names = reader->groups->own_hosts,
                                 .n_names = reader->groups->n_own_hosts};
    return groups_has(&own, name);
}

/* Removes "+N" from the end of the word; + alone is 1. */
static int take_preference(char *word, int *preference, struct err *err)
{
    char *plus = strchr(word, '+');
    int64_t number = 0;
    *preference = 0;
    if (plus == NULL) {
        return 0;
    }
    if (plus[1] == '\0') {
        number = 1;
    } else if (conf_parse_int(plus + 1, 0, INT32_MAX, &number, err) != 0) {
        return err_prefix(err, "\"%s\" has a bad preference, expected NAME+N", word);
    }
    *plus = '\0';
    *preference = (int)number;
    return 0;
}

static int check_name(const char *name, const char *word, struct err *err)
{
    return conf_parse_name(name, err) == 0 ? 0 : err_prefix(err, "\"%s\"", word);
}

/* "all@site", "host@site": sites are not known here, so the name is not checked. */
static int read_remote(struct arena *arena, const char *word, struct queue_term *term,
                       struct err *err)
{
    const char *at = strchr(word, '@');
    const char *host = arena_strn(arena, word, (size_t)(at - word));
    int code = check_name(at + 1, word, err);
    code = code == 0 ? check_name(host, word, err) : code;
    if (code != 0) {
        return code;
    }
    bool is_all = strcasecmp(host, "all") == 0;
    term->kind = is_all ? QUEUE_ALL_AT : QUEUE_HOST_AT;
    term->name = is_all ? at + 1 : word;
    return 0;
}

static int read_own(const struct groups *groups, const char *name,
                    enum queue_term_kind kind, struct queue_term *term, struct err *err)
{
    const struct name_group *group = groups_find_hosts(groups, name);
    int code = check_name(name, name, err);
    if (code != 0) {
        return code;
    }
    term->kind = kind;
    term->name = name;
    if (group != NULL) {
        term->kind = kind == QUEUE_HOST ? QUEUE_GROUP : QUEUE_NOT_GROUP;
        term->hosts = &group->members;
    }
    return 0;
}

int queue_term_read(struct arena *arena, const struct groups *groups, const char *word,
                    struct queue_term *term, struct err *err)
{
    static const struct {
        const char *word;
        enum queue_term_kind kind;
    } keywords[] = {
        {"all", QUEUE_ALL},
        {"others", QUEUE_OTHERS},
        {"allremote", QUEUE_ALL_REMOTE},
    };
    size_t length = strlen(word);
    char *name = arena_strn(arena, word, length);

    *term = (struct queue_term){.name = ""};
    if (word[0] == '~') {
        return read_own(groups, name + 1, QUEUE_NOT_HOST, term, err);
    }
    if (length > 1 && word[length - 1] == '!') {
        term->is_first = true;
        name[length - 1] = '\0';
    }
    int code = take_preference(name, &term->preference, err);
    if (code != 0) {
        return code;
    }
    if (term->is_first && term->preference > 0) {
        return err_set(err, ERR_PARSE, "\"%s\": expected either +N or !", word);
    }
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        if (strcasecmp(name, keywords[i].word) == 0) {
            if (term->is_first) {
                return err_set(err, ERR_PARSE,
                               "\"%s\": expected hosts or host groups before !", word);
            }
            term->kind = keywords[i].kind;
            return 0;
        }
    }
    return strchr(name, '@') != NULL ? read_remote(arena, name, term, err)
                                     : read_own(groups, name, QUEUE_HOST, term, err);
}

static bool read_term(const struct reader *reader, const char *word,
                      struct queue_term *term)
{
    struct err err;
    if (queue_term_read(reader->conf->arena, reader->groups, word, term, &err) != 0) {
        COMPLAIN(reader, "HOSTS", "%s", err.text);
        return false;
    }
    if ((term->kind == QUEUE_HOST || term->kind == QUEUE_NOT_HOST) &&
        !is_own_host(reader, term->name)) {
        COMPLAIN(reader, "HOSTS", "unknown host \"%s\", expected one of section Host",
                 term->name);
        return false;
    }
    return true;
}

static bool has_kind(const struct queue_config *queue, const struct queue_term *terms,
                     enum queue_term_kind kind)
{
    for (int i = 0; i < queue->n_terms; i++) {
        if (terms[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static void read_hosts(struct reader *reader, struct queue_config *queue)
{
    struct arena *arena = reader->conf->arena;
    struct conf_words words =
        conf_words(arena, conf_text(reader->at.row, "HOSTS", NULL));
    if (words.count == 0) {
        return;
    }
    struct queue_term *terms = arena_alloc(arena, (size_t)words.count, sizeof(*terms));
    queue->terms = terms;
    if (words.count == 1 && strcasecmp(words.words[0], "none") == 0) {
        /* Excludes a host without a name, so that the list is not empty and allows no
         * host. */
        terms[0] = (struct queue_term){.kind = QUEUE_NOT_HOST, .name = ""};
        queue->n_terms = 1;
        return;
    }
    for (int i = 0; i < words.count; i++) {
        const char *word = words.words[i];
        if (strcasecmp(word, "none") == 0) {
            COMPLAIN(reader, "HOSTS",
                     "\"none\" is combined with other values, expected it alone");
        } else if (read_term(reader, word, &terms[queue->n_terms])) {
            queue->n_terms++;
        }
    }
    bool has_out = has_kind(queue, terms, QUEUE_NOT_HOST) ||
                   has_kind(queue, terms, QUEUE_NOT_GROUP);
    bool has_in =
        has_kind(queue, terms, QUEUE_ALL) || has_kind(queue, terms, QUEUE_GROUP);
    if (has_out && !has_in) {
        COMPLAIN(reader, "HOSTS",
                 "~ excludes hosts only together with \"all\", expected all ~HOST");
    }
}

int queue_exclusive_read(struct arena *arena, const char *value,
                         struct queue_config *queue, struct err *err)
{
    static const char expected[] = "expected Y, N, CU or CU[type of compute units]";
    queue->is_exclusive = false;
    queue->exclusive_units = NULL;
    if (strncasecmp(value, "CU", 2) != 0) {
        return conf_parse_bool(value, &queue->is_exclusive, NULL) == 0
                   ? ERR_NONE
                   : err_set(err, ERR_PARSE, "\"%s\", %s", value, expected);
    }
    const char *type = value + 2;
    size_t length = strlen(type);
    if (length > 0 && (length < 2 || type[0] != '[' ||
                       strcspn(type, "]") != length - 1 || strchr(type + 1, '['))) {
        return err_set(err, ERR_PARSE, "\"%s\", %s", value, expected);
    }
    queue->is_exclusive = true;
    queue->exclusive_units = length > 0 ? arena_strn(arena, type + 1, length - 2) : "";
    return ERR_NONE;
}

static void read_exclusive(struct reader *reader, struct queue_config *queue)
{
    struct err err;
    const char *value = conf_text(reader->at.row, "EXCLUSIVE", "N");
    if (queue_exclusive_read(reader->conf->arena, value, queue, &err) != 0) {
        CONF_COMPLAIN(reader->conf, CONF_ERROR, &reader->at, "EXCLUSIVE", "%s",
                      err.text);
    }
}

static void read_queue(struct reader *reader, struct queue_config *queue)
{
    const struct conf_row *row = reader->at.row;
    queue->priority = 1;
    queue->description = conf_text(row, "DESCRIPTION", "");
    queue->res_req = conf_text(row, "RES_REQ", NULL);
    queue->resrsv_limit = conf_text(row, "RESRSV_LIMIT", NULL);
    queue->accept_interval_ms =
        accept_interval_read(reader->conf, &reader->at, reader->accept_ms);
    queue->new_job_delay_ms =
        conf_value_duration(reader->conf, &reader->at, "NEW_JOB_SCHED_DELAY", 0);
    queue->stop_cond = conf_text(row, "STOP_COND", NULL);
    queue->resume_cond = conf_text(row, "RESUME_COND", NULL);
    queue->is_balanced =
        strcasecmp(conf_text(row, "PLACEMENT", "stacked"), "balanced") == 0;
    read_exclusive(reader, queue);
    const char *interactive = conf_text(row, "INTERACTIVE", "YES");
    queue->interactive = strcasecmp(interactive, "NO") == 0 ? QUEUE_TAKES_BATCH
                         : strcasecmp(interactive, "ONLY") == 0
                             ? QUEUE_TAKES_INTERACTIVE
                             : QUEUE_TAKES_ALL;
    const struct conf_cell *cell = conf_cell(row, "PRIORITY");
    int64_t priority;
    /* conf_check has reported malformed values. */
    if (cell != NULL && cell->value != NULL &&
        conf_parse_int(cell->value, 1, INT32_MAX, &priority, NULL) == 0) {
        queue->priority = (int)priority;
    }
    read_hosts(reader, queue);
    reservation_config_read(reader->conf, &reader->at, &queue->reservation);
    queue_rules_read(reader->conf, reader->groups, &reader->at, &queue->rules);
}

/* The name in the row; NULL after a diagnostic. */
static const char *read_name(struct reader *reader, const struct queue_config *queues,
                             int n_queues)
{
    const char *name = conf_text(reader->at.row, "QUEUE_NAME", NULL);
    struct err err;
    if (name == NULL) {
        COMPLAIN(reader, "QUEUE_NAME", "a queue without a name, expected QUEUE_NAME");
        return NULL;
    }
    if (conf_parse_name(name, &err) != 0) {
        return NULL; /* conf_check has reported it */
    }
    if (n_queues == QUEUES_MAX) {
        COMPLAIN(reader, "QUEUE_NAME", "too many queues, expected at most %d",
                 QUEUES_MAX);
        return NULL;
    }
    for (int i = 0; i < n_queues; i++) {
        if (strcmp(queues[i].name, name) == 0) {
            COMPLAIN(reader, "QUEUE_NAME",
                     "queue \"%s\" is defined twice, expected another name", name);
            return NULL;
        }
    }
    return name;
}

void queue_read(struct conf *conf, const struct groups *groups,
                struct queue_config **queues, int *n_queues)
{
    struct reader reader = {.conf = conf, .groups = groups};
    reader.accept_ms = accept_interval_read_default(conf);
    *queues = arena_alloc(conf->arena, (size_t)conf_count_rows(conf, "Queue"),
                          sizeof(**queues));
    *n_queues = 0;
    while (conf_next_row(conf, "Queue", &reader.at)) {
        const char *name = read_name(&reader, *queues, *n_queues);
        if (name != NULL) {
            struct queue_config *queue = &(*queues)[(*n_queues)++];
            queue->name = name;
            read_queue(&reader, queue);
        }
    }
}

/* True if the term itself names this own host, or a group that contains it. */
static bool term_names(const struct queue_term *term, const char *host)
{
    switch (term->kind) {
    case QUEUE_HOST:
    case QUEUE_NOT_HOST:
        return strcmp(term->name, host) == 0;
    case QUEUE_GROUP:
    case QUEUE_NOT_GROUP:
        return groups_has(term->hosts, host);
    case QUEUE_ALL:
    case QUEUE_OTHERS:
    case QUEUE_ALL_REMOTE:
    case QUEUE_ALL_AT:
    case QUEUE_HOST_AT:
        break;
    }
    return false;
}

static bool is_exclusion(const struct queue_term *term)
{
    return term->kind == QUEUE_NOT_HOST || term->kind == QUEUE_NOT_GROUP;
}

/* True if HOSTS of the queue names this own host. */
static bool is_named(const struct queue_config *queue, const char *host)
{
    for (int i = 0; i < queue->n_terms; i++) {
        if (!is_exclusion(&queue->terms[i]) && term_names(&queue->terms[i], host)) {
            return true;
        }
    }
    return false;
}

bool queue_term_covers(const struct queue_term *term, const char *host,
                       const char *site)
{
    bool is_own = site[0] == '\0';
    switch (term->kind) {
    case QUEUE_ALL:
        return is_own;
    case QUEUE_ALL_REMOTE:
        return !is_own;
    case QUEUE_ALL_AT:
        return !is_own && strcmp(term->name, site) == 0;
    case QUEUE_HOST_AT:
        return !is_own && strcmp(term->name, host) == 0;
    case QUEUE_HOST:
    case QUEUE_GROUP:
        return is_own && term_names(term, host);
    case QUEUE_OTHERS:
    case QUEUE_NOT_HOST:
    case QUEUE_NOT_GROUP:
        break;
    }
    return false;
}

static bool term_covers(const struct queue_config *queue, const struct queue_term *term,
                        const char *host, const char *site)
{
    return term->kind == QUEUE_OTHERS ? site[0] == '\0' && !is_named(queue, host)
                                      : queue_term_covers(term, host, site);
}

bool queue_allows(const struct queue_config *queue, const char *host, const char *site,
                  int *preference)
{
    *preference = 0;
    if (queue->n_terms == 0) {
        return site[0] == '\0';
    }
    bool is_allowed = false;
    for (int i = 0; i < queue->n_terms; i++) {
        const struct queue_term *term = &queue->terms[i];
        if (is_exclusion(term) && site[0] == '\0' && term_names(term, host)) {
            *preference = 0;
            return false;
        }
        if (term_covers(queue, term, host, site)) {
            *preference = is_allowed && *preference > term->preference
                              ? *preference
                              : term->preference;
            is_allowed = true;
        }
    }
    return is_allowed;
}

bool queue_same_terms(const struct queue_config *a, const struct queue_config *b)
{
    for (int i = 0; i < a->n_terms && a->n_terms == b->n_terms; i++) {
        const struct queue_term *left = &a->terms[i], *right = &b->terms[i];
        bool has_name = left->kind != QUEUE_ALL && left->kind != QUEUE_OTHERS &&
                        left->kind != QUEUE_ALL_REMOTE;
        if (left->kind != right->kind || left->preference != right->preference ||
            left->is_first != right->is_first ||
            (has_name && strcmp(left->name, right->name) != 0)) {
            return false;
        }
    }
    return a->n_terms == b->n_terms;
}

bool queue_has_first(const struct queue_config *queue)
{
    bool has_first = false;
    for (int i = 0; i < queue->n_terms; i++) {
        has_first = has_first || queue->terms[i].is_first;
    }
    return has_first;
}

bool queue_is_first(const struct queue_config *queue, const char *host,
                    const char *site)
{
    bool is_first = false;
    for (int i = 0; i < queue->n_terms; i++) {
        const struct queue_term *term = &queue->terms[i];
        is_first = is_first || (term->is_first && queue_term_covers(term, host, site));
    }
    return is_first;
}

static bool is_remote(const struct queue_term *term)
{
    return term->kind == QUEUE_ALL_REMOTE || term->kind == QUEUE_ALL_AT ||
           term->kind == QUEUE_HOST_AT;
}

/* True if `b` names all borrowed hosts that `a` names. */
static bool has_remotes(const struct queue_config *a, const struct queue_config *b)
{
    for (int i = 0; i < a->n_terms; i++) {
        bool is_found = !is_remote(&a->terms[i]);
        for (int k = 0; k < b->n_terms && !is_found; k++) {
            is_found = a->terms[i].kind == b->terms[k].kind &&
                       strcmp(a->terms[i].name, b->terms[k].name) == 0;
        }
        if (!is_found) {
            return false;
        }
    }
    return true;
}

bool queue_same_hosts(const struct queue_config *a, const struct queue_config *b,
                      const struct groups *groups)
{
    for (int i = 0; i < groups->n_own_hosts; i++) {
        int preference;
        if (queue_allows(a, groups->own_hosts[i], "", &preference) !=
            queue_allows(b, groups->own_hosts[i], "", &preference)) {
            return false;
        }
    }
    return has_remotes(a, b) && has_remotes(b, a);
}
