/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_config.c: see slurm_config.h. */
#include "slurm/io/slurm_config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "slurm/slurm_sections.h"
#include "slurm/slurm_setting.h"

enum { WITHIN_MS = 30000, CACHE_MAX = 32 << 20 };

static const char *text_of(const struct conf_place *site, const char *key)
{
    return conf_text(site->row, key, "");
}

static const char *cache_path(struct arena *arena, const char *spool)
{
    return arena_printf(arena, "%s/slurm.nodes", spool);
}

static void write_cache(struct arena *arena, const char *spool, const char *text)
{
    const char *path = cache_path(arena, spool);
    const char *fresh = arena_printf(arena, "%s.new", path);
    FILE *file = fopen(fresh, "we");
    if (file == NULL) {
        return; /* SPOOL is made later */
    }
    bool is_written = fputs(text, file) >= 0;
    if (fclose(file) == 0 && is_written) {
        rename(fresh, path);
    }
}

void slurm_config_keep(const char *spool, const struct slurm_nodes *nodes)
{
    struct arena arena;
    arena_init(&arena);
    write_cache(&arena, spool, slurm_sections_format(&arena, nodes));
    arena_release(&arena);
}

/* NULL: there is none. */
static const char *read_cache(const struct conf *conf, const struct conf_place *site)
{
    FILE *file = fopen(cache_path(conf->arena, text_of(site, "SPOOL")), "re");
    char *text = NULL;
    long size = 0;
    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && size < CACHE_MAX &&
        fseek(file, 0, SEEK_SET) == 0) {
        text = arena_alloc(conf->arena, (size_t)size + 1, 1);
        text[fread(text, 1, (size_t)size, file)] = '\0';
    }
    fclose(file);
    return text;
}

static const char *ask_nodes(struct conf *conf, const struct conf_place *site,
                             const struct slurm_child_place *place, struct err *err)
{
    struct arena *arena = conf->arena;
    struct slurm_nodes nodes;
    const char *text;
    int rc = slurm_child_run(
        place, slurm_node_command(arena, text_of(site, "SLURM_PARTITION")), arena,
        &text, err);
    if (rc == 0) {
        rc = slurm_node_read(arena, text, &nodes, err);
    }
    return rc == 0 ? slurm_sections_format(arena, &nodes) : NULL;
}

static void judge_settings(struct conf *conf, const struct conf_place *site,
                           const struct slurm_child_place *place)
{
    struct slurm_setting settings[SLURM_SETTINGS];
    const char *text;
    struct err err;
    if (slurm_child_run(place, slurm_setting_command, conf->arena, &text, &err) < 0 ||
        slurm_setting_read(conf->arena, text, settings, &err) < 0) {
        CONF_COMPLAIN(conf, CONF_WARNING, site, "SCHEDULER",
                      "the settings of the cluster are not known: %s", err.text);
        return;
    }
    for (int i = 0; i < SLURM_SETTINGS; i++) {
        if (settings[i].verdict != SLURM_VERDICT_OK) {
            CONF_COMPLAIN(conf,
                          settings[i].verdict == SLURM_VERDICT_FAIL ? CONF_ERROR
                                                                    : CONF_WARNING,
                          site, "SCHEDULER", "%s=%s of Slurm: %s", settings[i].name,
                          settings[i].value, settings[i].advice);
        }
    }
}

void slurm_config_complete(struct conf *conf, enum slurm_config_use use)
{
    struct conf_place site = {0};
    struct err err;
    if (!conf_next_row(conf, "Site", &site) ||
        strcasecmp(text_of(&site, "SCHEDULER"), "slurm") != 0) {
        return;
    }
    const struct conf_section *host = conf_next(conf, "Host", NULL);
    if (host != NULL) {
        conf_complain(conf, CONF_ERROR, host, NULL, NULL,
                      "with SCHEDULER = slurm the hosts are Slurm's nodes, expected no "
                      "section Host");
        return;
    }
    const struct slurm_child_place place = {.bin = text_of(&site, "SLURM_BIN"),
                                            .conf = text_of(&site, "SLURM_CONF"),
                                            .within_ms = WITHIN_MS};
    const char *text = use == SLURM_CONFIG_RELOAD ? read_cache(conf, &site) : NULL;
    if (text != NULL) {
        conf_read(conf, "nodes of Slurm", text, strlen(text));
        return;
    }
    text = ask_nodes(conf, &site, &place, &err);
    if (text != NULL) {
        if (use != SLURM_CONFIG_CHECK) {
            write_cache(conf->arena, text_of(&site, "SPOOL"), text);
        }
        judge_settings(conf, &site, &place);
    } else if ((text = read_cache(conf, &site)) != NULL) {
        CONF_COMPLAIN(conf, CONF_WARNING, &site, "SCHEDULER",
                      "the nodes are those of an earlier time: %s", err.text);
    } else {
        CONF_COMPLAIN(conf, CONF_ERROR, &site, "SCHEDULER",
                      "the nodes are not known: %s", err.text);
        return;
    }
    conf_read(conf, "nodes of Slurm", text, strlen(text));
}
