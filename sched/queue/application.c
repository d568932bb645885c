/* SPDX-License-Identifier: Apache-2.0 */
/* application.c: see application.h. */
#include "sched/queue/application.h"

#include <string.h>

#include "base/bounds.h"

enum { APPLICATIONS_MAX = QUEUES_MAX };

#define COMPLAIN(conf, section, row, cell, ...)                                        \
    conf_complain(conf, CONF_ERROR, section, row, cell, __VA_ARGS__)

const struct application *application_find(const struct application *applications,
                                           int n_applications, const char *name)
{
    for (int i = 0; i < n_applications; i++) {
        if (strcmp(applications[i].name, name) == 0) {
            return &applications[i];
        }
    }
    return NULL;
}

/* The name in the row; NULL after a diagnostic. */
static const char *read_name(struct conf *conf, const struct conf_section *section,
                             const struct conf_row *row,
                             const struct application *known, int n_known)
{
    const struct conf_cell *cell = conf_cell(row, "NAME");
    const char *name = conf_text(row, "NAME", NULL);
    if (name == NULL) {
        COMPLAIN(conf, section, row, cell,
                 "an application without a name, expected "
                 "NAME");
        return NULL;
    }
    if (conf_parse_name(name, NULL) != 0) {
        return NULL; /* conf_check has reported it */
    }
    if (application_find(known, n_known, name) != NULL) {
        COMPLAIN(conf, section, row, cell,
                 "application \"%s\" is defined twice, expected another name", name);
        return NULL;
    }
    if (n_known == APPLICATIONS_MAX) {
        COMPLAIN(conf, section, row, cell, "too many applications, expected at most %d",
                 APPLICATIONS_MAX);
        return NULL;
    }
    return name;
}

/* It matters whether the key is given: -ar is refused only if it is forbidden. */
static void read_resize(const struct conf_row *row, struct application *app)
{
    const char *word = conf_text(row, "RESIZABLE_JOBS", "");
    app->forbids_resize = strcasecmp(word, "N") == 0;
    app->resizable = strcasecmp(word, "auto") == 0 ? RESIZABLE_AUTO
                     : strcasecmp(word, "Y") == 0  ? RESIZABLE_YES
                                                   : RESIZABLE_NO;
    app->resize_notify = conf_text(row, "RESIZE_NOTIFY_CMD", "");
}

static int count_rows(const struct conf *conf)
{
    int count = 0;
    const struct conf_section *section = NULL;
    while ((section = conf_next(conf, "Application", section)) != NULL) {
        count += section->n_rows;
    }
    return count;
}

void application_read(struct conf *conf, struct application **applications,
                      int *n_applications)
{
    const struct conf_section *section = NULL;
    *applications =
        arena_alloc(conf->arena, (size_t)count_rows(conf), sizeof(**applications));
    *n_applications = 0;
    while ((section = conf_next(conf, "Application", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            const struct conf_row *row = &section->rows[i];
            const char *name =
                read_name(conf, section, row, *applications, *n_applications);
            if (name == NULL) {
                continue;
            }
            struct application *app = &(*applications)[(*n_applications)++];
            app->name = name;
            app->description = conf_text(row, "DESCRIPTION", "");
            app->res_req = conf_text(row, "RES_REQ", NULL);
            read_resize(row, app);
            job_rules_read(conf, section, row, &app->rules);
        }
    }
}
