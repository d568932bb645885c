/* SPDX-License-Identifier: Apache-2.0 */
/* application.c: see queue.h. */
#include "sched/queue/queue.h"

#include <string.h>

#include "base/bounds.h"

enum { APPLICATIONS_MAX = QUEUES_MAX };

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
static const char *read_name(struct conf *conf, const struct conf_place *at,
                             const struct application *known, int n_known)
{
    const char *name = conf_text(at->row, "NAME", NULL);
    if (name == NULL) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "NAME",
                      "an application without a name, expected NAME");
        return NULL;
    }
    if (conf_parse_name(name, NULL) != 0) {
        return NULL; /* conf_check has reported it */
    }
    if (n_known == APPLICATIONS_MAX) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "NAME",
                      "too many applications, expected at most %d", APPLICATIONS_MAX);
        return NULL;
    }
    if (application_find(known, n_known, name) != NULL) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "NAME",
                      "application \"%s\" is defined twice, expected another name",
                      name);
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

void application_read(struct conf *conf, struct application **applications,
                      int *n_applications)
{
    struct conf_place at = {0};
    *applications =
        arena_alloc(conf->arena, (size_t)conf_count_rows(conf, "Application"),
                    sizeof(**applications));
    *n_applications = 0;
    while (conf_next_row(conf, "Application", &at)) {
        const char *name = read_name(conf, &at, *applications, *n_applications);
        if (name == NULL) {
            continue;
        }
        struct application *app = &(*applications)[(*n_applications)++];
        app->name = name;
        app->description = conf_text(at.row, "DESCRIPTION", "");
        app->res_req = conf_text(at.row, "RES_REQ", NULL);
        read_resize(at.row, app);
        job_rules_read(conf, &at, &app->rules);
    }
}
