/* SPDX-License-Identifier: Apache-2.0 */
/* config_copy.c: see config_copy.h. */
#include "site/config/config_copy.h"

#include "model/exported_resources.h"
#include "provider/export/export_shared.h"

static const char *copy_text(struct arena *arena, const char *text)
{
    return text != NULL ? arena_str(arena, text) : "";
}

static const char *copy_given(struct arena *arena, const char *text)
{
    return text != NULL ? arena_str(arena, text) : NULL;
}

static void *copy_array(struct arena *arena, const void *from, int count, size_t size)
{
    return count > 0 ? arena_copy(arena, from, (size_t)count * size) : NULL;
}

static void copy_windows(struct arena *arena, struct window_list *list)
{
    list->items = copy_array(arena, list->items, list->n_items, sizeof(*list->items));
    list->text = copy_given(arena, list->text);
}

static void copy_thresholds(struct arena *arena, struct load_thresholds *thresholds)
{
    thresholds->items = copy_array(arena, thresholds->items, thresholds->n_items,
                                   sizeof(*thresholds->items));
}

static void copy_hosts(struct arena *arena, struct site_config *config)
{
    struct site_host *hosts =
        copy_array(arena, config->hosts, config->n_hosts, sizeof(*hosts));
    for (int i = 0; i < config->n_hosts; i++) {
        hosts[i].name = copy_text(arena, hosts[i].name);
        hosts[i].type = copy_text(arena, hosts[i].type);
        hosts[i].model = copy_text(arena, hosts[i].model);
        copy_windows(arena, &hosts[i].run_windows);
        copy_windows(arena, &hosts[i].dispatch_windows);
        copy_thresholds(arena, &hosts[i].thresholds);
    }
    config->hosts = hosts;
}

static void copy_names(struct arena *arena, struct name_set *set)
{
    const char **names = copy_array(arena, set->names, set->n_names, sizeof(*names));
    for (int i = 0; i < set->n_names; i++) {
        names[i] = copy_text(arena, names[i]);
    }
    set->names = names;
}

static const struct name_group *
copy_group_list(struct arena *arena, const struct name_group *from, int n_groups)
{
    struct name_group *groups = copy_array(arena, from, n_groups, sizeof(*groups));
    for (int i = 0; i < n_groups; i++) {
        groups[i].name = copy_text(arena, groups[i].name);
        copy_names(arena, &groups[i].members);
    }
    return groups;
}

static void copy_groups(struct arena *arena, struct groups *groups)
{
    struct name_set own = {.names = groups->own_hosts, .n_names = groups->n_own_hosts};
    copy_names(arena, &own);
    groups->own_hosts = own.names;
    groups->users = copy_group_list(arena, groups->users, groups->n_users);
    groups->hosts = copy_group_list(arena, groups->hosts, groups->n_hosts);
}

static void copy_job_rules(struct arena *arena, struct job_rules *rules)
{
    rules->requeue_codes =
        copy_array(arena, rules->requeue_codes, rules->n_requeue_codes, sizeof(int));
    rules->success_codes =
        copy_array(arena, rules->success_codes, rules->n_success_codes, sizeof(int));
    rules->job_starter = copy_text(arena, rules->job_starter);
    rules->pre_exec = copy_text(arena, rules->pre_exec);
    rules->post_exec = copy_text(arena, rules->post_exec);
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        const char **action = &rules->controls.actions[i];
        *action = copy_given(arena, *action);
    }
}

static void copy_rules(struct arena *arena, struct queue_rules *rules)
{
    copy_names(arena, &rules->users);
    copy_windows(arena, &rules->run_windows);
    copy_windows(arena, &rules->dispatch_windows);
    copy_job_rules(arena, &rules->job);
}

static void copy_applications(struct arena *arena, struct site_config *config)
{
    struct application *apps =
        copy_array(arena, config->applications, config->n_applications, sizeof(*apps));
    for (int i = 0; i < config->n_applications; i++) {
        apps[i].name = copy_text(arena, apps[i].name);
        apps[i].description = copy_text(arena, apps[i].description);
        apps[i].res_req = copy_given(arena, apps[i].res_req);
        apps[i].resize_notify = copy_text(arena, apps[i].resize_notify);
        copy_job_rules(arena, &apps[i].rules);
    }
    config->applications = apps;
    config->default_application = copy_text(arena, config->default_application);
    copy_job_rules(arena, &config->rules);
}

static void copy_queues(struct arena *arena, struct site_config *config)
{
    struct queue_config *queues =
        copy_array(arena, config->queues, config->n_queues, sizeof(*queues));
    for (int i = 0; i < config->n_queues; i++) {
        struct queue_config *queue = &queues[i];
        struct queue_term *terms =
            copy_array(arena, queue->terms, queue->n_terms, sizeof(*terms));
        for (int k = 0; k < queue->n_terms; k++) {
            terms[k].name = copy_text(arena, terms[k].name);
            if (terms[k].hosts != NULL) {
                struct name_set *hosts =
                    arena_copy(arena, terms[k].hosts, sizeof(*hosts));
                copy_names(arena, hosts);
                terms[k].hosts = hosts;
            }
        }
        queue->terms = terms;
        queue->name = copy_text(arena, queue->name);
        queue->description = copy_text(arena, queue->description);
        queue->res_req = copy_given(arena, queue->res_req);
        queue->resrsv_limit = copy_given(arena, queue->resrsv_limit);
        queue->stop_cond = copy_given(arena, queue->stop_cond);
        queue->resume_cond = copy_given(arena, queue->resume_cond);
        copy_thresholds(arena, &queue->thresholds);
        copy_rules(arena, &queue->rules);
    }
    config->queues = queues;
}

static void copy_preempt(struct arena *arena, struct preempt_policy *rules)
{
    struct preempt_queue *queues =
        copy_array(arena, rules->queues, rules->n_queues, sizeof(*queues));
    for (int i = 0; i < rules->n_queues; i++) {
        queues[i].targets = copy_array(arena, queues[i].targets, queues[i].n_targets,
                                       sizeof(*queues[i].targets));
        queues[i].preemptable_by =
            copy_array(arena, queues[i].preemptable_by, queues[i].n_preemptable_by,
                       sizeof(*queues[i].preemptable_by));
    }
    rules->queues = queues;
    struct preempt_app *apps =
        copy_array(arena, rules->apps, rules->n_apps, sizeof(*apps));
    for (int i = 0; i < rules->n_apps; i++) {
        apps[i].name = copy_text(arena, apps[i].name);
    }
    rules->apps = apps;
}

static void copy_methods(struct arena *arena, struct site_config *config)
{
    struct rusage_method *methods =
        copy_array(arena, config->methods, config->n_methods, sizeof(*methods));
    for (int i = 0; i < config->n_methods; i++) {
        methods[i].resource = copy_text(arena, methods[i].resource);
    }
    config->methods = methods;
    struct name_set names = {.names = config->preemptable,
                             .n_names = config->n_preemptable};
    copy_names(arena, &names);
    config->preemptable = names.names;
}

static void copy_limits(struct arena *arena, struct site_config *config)
{
    struct limit *limits =
        copy_array(arena, config->limits, config->n_limits, sizeof(*limits));
    for (int i = 0; i < config->n_limits; i++) {
        limits[i].name = copy_text(arena, limits[i].name);
        for (int k = 0; k < LIMIT_SIDES; k++) {
            copy_names(arena, &limits[i].sides[k].names);
        }
    }
    config->limits = limits;
}

static const struct share_assignment *
copy_lines(struct arena *arena, const struct share_assignment *from, int n_lines)
{
    struct share_assignment *lines = copy_array(arena, from, n_lines, sizeof(*lines));
    for (int i = 0; i < n_lines; i++) {
        lines[i].name = copy_text(arena, lines[i].name);
        copy_names(arena, &lines[i].members);
        lines[i].children = copy_lines(arena, lines[i].children, lines[i].n_children);
    }
    return lines;
}

static void copy_shares(struct arena *arena, struct site_config *config)
{
    struct fairshare *shares = &config->fairshare;
    struct fairshare_scope *scopes =
        copy_array(arena, shares->scopes, shares->n_scopes, sizeof(*scopes));
    for (int i = 0; i < shares->n_scopes; i++) {
        scopes[i].name = copy_text(arena, scopes[i].name);
        scopes[i].assignments =
            copy_lines(arena, scopes[i].assignments, scopes[i].n_assignments);
    }
    shares->scopes = scopes;
    shares->scope_of = shares->n_scopes > 0 ? copy_array(arena, shares->scope_of,
                                                         config->n_queues, sizeof(int))
                                            : NULL;
}

static void copy_pools(struct arena *arena, struct site_config *config)
{
    struct slot_pools *from = &config->pools;
    struct slot_pool *pools =
        copy_array(arena, from->pools, from->n_pools, sizeof(*pools));
    for (int i = 0; i < from->n_pools; i++) {
        pools[i].name = copy_text(arena, pools[i].name);
        pools[i].max_name = copy_text(arena, pools[i].max_name);
        pools[i].queues =
            copy_array(arena, pools[i].queues, pools[i].n_queues, sizeof(int));
    }
    from->pools = pools;
    if (from->n_pools > 0) {
        from->pool_of = copy_array(arena, from->pool_of, config->n_queues, sizeof(int));
        from->shares = copy_array(arena, from->shares, config->n_queues, sizeof(int));
    }
}

static void copy_shared(struct arena *arena, struct export_plan *plan)
{
    plan->shared =
        copy_array(arena, plan->shared, plan->n_shared, sizeof(*plan->shared));
    for (int i = 0; i < plan->n_shared; i++) {
        struct export_shared *shared = &plan->shared[i];
        shared->name = copy_text(arena, shared->name);
        shared->pools =
            copy_array(arena, shared->pools, shared->n_hosts, sizeof(*shared->pools));
        shared->counts = copy_array(arena, shared->counts, shared->n_places,
                                    sizeof(*shared->counts));
        shared->shares = copy_array(arena, shared->shares, shared->n_shares,
                                    sizeof(*shared->shares));
        const char **consumers =
            copy_array(arena, shared->consumers, shared->n_shares, sizeof(*consumers));
        for (int k = 0; k < shared->n_shares; k++) {
            consumers[k] = copy_text(arena, consumers[k]);
        }
        shared->consumers = consumers;
    }
}

static void copy_users(struct arena *arena, struct user_map *map)
{
    struct user_map_row *rows =
        copy_array(arena, map->rows, map->n_rows, sizeof(*rows));
    for (int i = 0; i < map->n_rows; i++) {
        rows[i].local = copy_text(arena, rows[i].local);
        rows[i].user = copy_text(arena, rows[i].user);
        rows[i].site = copy_text(arena, rows[i].site);
    }
    map->rows = rows;
}

static void copy_exports(struct arena *arena, struct export_plan *plan)
{
    plan->claims = NULL; /* they were for reading */
    plan->n_claims = 0;
    plan->leases =
        copy_array(arena, plan->leases, plan->n_leases, sizeof(*plan->leases));
    for (int i = 0; i < plan->n_leases; i++) {
        struct export_lease *lease = &plan->leases[i];
        lease->policy = copy_text(arena, lease->policy);
        lease->consumer = copy_text(arena, lease->consumer);
        lease->content = copy_text(arena, lease->content);
        lease->hosts =
            copy_array(arena, lease->hosts, lease->n_hosts, sizeof(*lease->hosts));
        for (int k = 0; k < lease->n_hosts; k++) {
            lease->hosts[k].host = copy_text(arena, lease->hosts[k].host);
        }
        lease->resources =
            exported_resources_copy(arena, lease->resources, lease->n_resources);
    }
    copy_shared(arena, plan);
    plan->late = copy_array(arena, plan->late, plan->n_late, sizeof(*plan->late));
    for (int i = 0; i < plan->n_late; i++) {
        struct export_late *late = &plan->late[i];
        late->name = copy_text(arena, late->name);
        late->content = copy_text(arena, late->content);
        late->select = copy_text(arena, late->select);
        late->shares =
            copy_array(arena, late->shares, late->n_shares, sizeof(*late->shares));
    }
}

const struct site_config *config_copy(struct arena *arena,
                                      const struct site_config *from)
{
    struct site_config *config = arena_copy(arena, from, sizeof(*from));
    config->name = copy_text(arena, from->name);
    config->default_queue = copy_text(arena, from->default_queue);
    config->lease_account = copy_text(arena, from->lease_account);
    copy_users(arena, &config->users);
    copy_hosts(arena, config);
    copy_queues(arena, config);
    copy_groups(arena, &config->groups);
    copy_applications(arena, config);
    copy_limits(arena, config);
    copy_shares(arena, config);
    copy_pools(arena, config);
    copy_preempt(arena, &config->preempt);
    copy_methods(arena, config);
    copy_exports(arena, &config->exports);
    resource_config_copy(arena, &config->resource_config);
    const char **admins =
        copy_array(arena, from->admins, from->n_admins, sizeof(*admins));
    for (int i = 0; i < from->n_admins; i++) {
        admins[i] = copy_text(arena, from->admins[i]);
    }
    config->admins = admins;
    return config;
}
