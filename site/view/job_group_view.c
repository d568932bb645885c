/* SPDX-License-Identifier: Apache-2.0 */
/* job_group_view.c: `jgroups`: job groups, each with its jobs and those of the groups
 * below it. Jobs are counted, not slots, as bjgroup does. */
#include "model/page.h"
#include "site/job/job_group.h"
#include "site/view/view_rows.h"

static struct value *group_row(struct arena *arena, const struct job_group *group)
{
    const int *n_by_state = group->n_by_state;
    struct value *row = value_object(arena);
    int n_pend = n_by_state[JOB_PEND] + n_by_state[JOB_PSUSP];
    int n_run = n_by_state[JOB_RUN] + n_by_state[JOB_UNKWN];
    int n_ended = n_by_state[JOB_DONE] + n_by_state[JOB_EXIT];
    int n_started = n_run + n_by_state[JOB_SSUSP] + n_by_state[JOB_USUSP];
    value_add_text(arena, row, "group", group->path);
    value_add_text(arena, row, "owner", group->owner);
    value_add_int(arena, row, "njobs", n_pend + n_started + n_ended);
    value_add_int(arena, row, "pend", n_pend);
    value_add_int(arena, row, "run", n_run);
    value_add_int(arena, row, "ssusp", n_by_state[JOB_SSUSP]);
    value_add_int(arena, row, "ususp", n_by_state[JOB_USUSP]);
    value_add_int(arena, row, "finish", n_ended);
    value_add_int(arena, row, "started", n_started);
    value_add_known(arena, row, "limit", group->limit.jobs >= 0, group->limit.jobs);
    return row;
}

void job_group_view_list(struct site_view *view, struct page *page,
                         const struct msg_query *query)
{
    const struct job_groups *groups = job_table_groups(view->jobs);
    for (int i = 0; i < job_group_count(groups) && !page->is_full; i++) {
        const struct job_group *group = job_group_at(groups, i);
        bool is_asked =
            query->name[0] == '\0' || job_group_contains(query->name, group->path);
        if (!group->is_gone && is_asked && page_wants(page, (uint64_t)i + 1)) {
            page_add_number(page, (uint64_t)i + 1, group_row(page->arena, group));
        }
    }
}
