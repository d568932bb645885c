/* SPDX-License-Identifier: Apache-2.0 */
/* dup.c: see dup.h. A copy is measured first, then laid out in one block: the
 * structs in front, the texts behind them. */
#include "model/dup.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Shared by all empty texts: most jobs have three of them. */
static const char nothing[] = "";

char *dup_text(const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return (char *)(uintptr_t)nothing;
    }
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size, 1), text, size);
}

void dup_free(const char *text)
{
    if (text != nothing) {
        free((char *)(uintptr_t)text);
    }
}

void dup_set_text(char **text, const char *value)
{
    char *copy = dup_text(value);
    dup_free(*text);
    *text = copy;
}

/* Where the next text of a block goes to. */
static const char *put_text(char **at, const char *text)
{
    const char *source = text != NULL ? text : "";
    size_t size = strlen(source) + 1;
    char *copy = memcpy(*at, source, size);
    *at += size;
    return copy;
}

static size_t size_of_text(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 1;
}

static size_t size_of_texts(const char *const *texts, int n_texts)
{
    size_t size = 0;
    for (int i = 0; i < n_texts; i++) {
        size += size_of_text(texts[i]);
    }
    return size;
}

/* Likewise, with its pointers where the next list goes to. */
static const char *const *put_texts(const char ***list, char **at,
                                    const char *const *texts, int n_texts)
{
    const char **copy = *list;
    for (int i = 0; i < n_texts; i++) {
        copy[i] = put_text(at, texts[i]);
    }
    *list += n_texts;
    return copy;
}

struct job_spec *dup_spec(const struct job_spec *spec)
{
    size_t n_texts = (size_t)spec->n_env + (size_t)spec->n_hosts_asked +
                     (size_t)spec->n_res_reqs + (size_t)spec->n_limits +
                     (size_t)spec->n_pre_execs + (size_t)spec->n_post_execs +
                     (size_t)spec->n_controls;
    size_t head = sizeof(*spec) + n_texts * sizeof(char *);
    size_t size = head + size_of_text(spec->name) + size_of_text(spec->user) +
                  size_of_text(spec->queue) + size_of_text(spec->command) +
                  size_of_text(spec->cwd) + size_of_text(spec->in_file) +
                  size_of_text(spec->out_file) + size_of_text(spec->err_file) +
                  size_of_texts(spec->env, spec->n_env) +
                  size_of_texts(spec->hosts_asked, spec->n_hosts_asked) +
                  size_of_texts(spec->res_reqs, spec->n_res_reqs) +
                  size_of_text(spec->app) +
                  size_of_texts(spec->limits, spec->n_limits) +
                  size_of_texts(spec->pre_execs, spec->n_pre_execs) +
                  size_of_texts(spec->post_execs, spec->n_post_execs) +
                  size_of_texts(spec->controls, spec->n_controls);
    char *block = mem_alloc(size, 1);
    char *at = block + head;
    struct job_spec *copy = (struct job_spec *)(void *)block;
    const char **list = (const char **)(void *)(block + sizeof(*spec));

    *copy = *spec;
    copy->name = put_text(&at, spec->name);
    copy->user = put_text(&at, spec->user);
    copy->queue = put_text(&at, spec->queue);
    copy->command = put_text(&at, spec->command);
    copy->cwd = put_text(&at, spec->cwd);
    copy->in_file = put_text(&at, spec->in_file);
    copy->out_file = put_text(&at, spec->out_file);
    copy->err_file = put_text(&at, spec->err_file);
    copy->app = put_text(&at, spec->app);
    copy->env = put_texts(&list, &at, spec->env, spec->n_env);
    copy->hosts_asked = put_texts(&list, &at, spec->hosts_asked, spec->n_hosts_asked);
    copy->res_reqs = put_texts(&list, &at, spec->res_reqs, spec->n_res_reqs);
    copy->limits = put_texts(&list, &at, spec->limits, spec->n_limits);
    copy->pre_execs = put_texts(&list, &at, spec->pre_execs, spec->n_pre_execs);
    copy->post_execs = put_texts(&list, &at, spec->post_execs, spec->n_post_execs);
    copy->controls = put_texts(&list, &at, spec->controls, spec->n_controls);
    return copy;
}

struct run_exit *dup_exit(const struct run_exit *exit)
{
    struct run_exit *copy = mem_alloc(sizeof(*copy) + size_of_text(exit->text), 1);
    char *at = (char *)(copy + 1);
    *copy = *exit;
    copy->text = put_text(&at, exit->text);
    return copy;
}

struct host_slots *dup_hosts(const struct host_slots *hosts, int n_hosts)
{
    if (n_hosts == 0) {
        return NULL;
    }
    size_t head = (size_t)n_hosts * sizeof(*hosts);
    size_t size = head;
    for (int i = 0; i < n_hosts; i++) {
        size += size_of_text(hosts[i].host);
    }
    char *block = mem_alloc(size, 1);
    char *at = block + head;
    struct host_slots *copy = (struct host_slots *)(void *)block;
    for (int i = 0; i < n_hosts; i++) {
        copy[i].host = put_text(&at, hosts[i].host);
        copy[i].n_slots = hosts[i].n_slots;
    }
    return copy;
}
