/* SPDX-License-Identifier: Apache-2.0 */
/* http_admin.c: see http_admin.h. */
#include "broker/io/http_admin.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/conf/conf.h"
#include "base/conf/conf_keys.h"

static const char expected[] =
    "expected {\"delay\":\"5m\"} (or \"default\"), with \"lease\" or \"provider\" for "
    "one only";

static int misread(struct err *err, const char *what)
{
    return err_set(err, ERR_PARSE, "the body: %s, %s", what, expected);
}

static const struct conf_key *delay_key(void)
{
    return conf_keys_find("Parameters", "MC_RECLAIM_DELAY");
}

/* "5m", "90s", "default"; a bare number is minutes, as on the command line. */
static int read_text(const char *text, int64_t *delay_ms, struct err *err)
{
    *delay_ms = -1;
    if (strcmp(text, "default") == 0) {
        return 0;
    }
    return conf_parse_key_duration(delay_key(), text, delay_ms, err) < 0
               ? err_prefix(err, "the body: delay")
               : 0;
}

static int read_seconds(const json_t *value, int64_t *delay_ms, struct err *err)
{
    double seconds = json_number_value(value);
    char text[32];
    *delay_ms = -1;
    if (json_is_null(value)) {
        return 0;
    }
    if (!json_is_number(value) || !(fabs(seconds) < 1e12)) {
        return misread(err, "delay_s is no number of seconds");
    }
    *delay_ms = (int64_t)llround(seconds * 1000);
    snprintf(text, sizeof(text), "%.10gs", seconds);
    return conf_check_duration(delay_key(), text, *delay_ms, err) < 0
               ? err_prefix(err, "the body: delay_s")
               : 0;
}

static int read_delay(const json_t *body, int64_t *delay_ms, struct err *err)
{
    const json_t *text = json_object_get(body, "delay");
    const json_t *seconds = json_object_get(body, "delay_s");
    if ((text == NULL) == (seconds == NULL)) {
        return misread(err, "neither delay nor delay_s, or both");
    }
    if (seconds != NULL) {
        return read_seconds(seconds, delay_ms, err);
    }
    return json_is_string(text) ? read_text(json_string_value(text), delay_ms, err)
                                : misread(err, "delay is no text");
}

static int read_scope(const json_t *body, struct msg_set_reclaim *set, struct err *err)
{
    const json_t *lease = json_object_get(body, "lease");
    const json_t *provider = json_object_get(body, "provider");
    if (lease != NULL && provider != NULL) {
        return misread(err, "lease and provider together");
    }
    const json_t *named = lease != NULL ? lease : provider;
    set->scope = lease != NULL      ? RECLAIM_LEASE
                 : provider != NULL ? RECLAIM_PROVIDER
                                    : RECLAIM_ALL;
    set->name = "";
    if (named == NULL) {
        return 0;
    }
    size_t size = lease != NULL ? LEASE_ID_SIZE : NAME_SIZE;
    size_t length = json_string_length(named);
    if (!json_is_string(named) || length == 0 || length >= size ||
        strlen(json_string_value(named)) != length) {
        return misread(err, "lease or provider is no name");
    }
    set->name = json_string_value(named);
    return 0;
}

/* A misspelt key would change the delay of all leases. */
static int check_keys(const json_t *body, struct err *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(body)) {
        return misread(err, "no JSON object");
    }
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        if (strcmp(key, "delay") != 0 && strcmp(key, "delay_s") != 0 &&
            strcmp(key, "lease") != 0 && strcmp(key, "provider") != 0) {
            return misread(err, "a member of another name");
        }
    }
    return 0;
}

static int set_reclaim(const struct http_admin_order *order, struct arena *arena,
                       const char **answer, struct err *err)
{
    json_t *read = json_loadb(order->body, order->n_body, JSON_REJECT_DUPLICATES, NULL);
    struct msg msg = {.kind = MSG_SET_RECLAIM, .site = ""};
    int rc = check_keys(read, err);
    if (rc == 0) {
        rc = read_delay(read, &msg.set_reclaim.delay_ms, err);
    }
    if (rc == 0) {
        rc = read_scope(read, &msg.set_reclaim, err);
    }
    if (rc == 0) {
        rc = hub_ask(order->hub, &msg, order->who, arena, answer, err);
    }
    json_decref(read);
    return rc;
}

static int check_empty(const char *body, size_t n_body, struct err *err)
{
    json_t *read = n_body > 0 ? json_loadb(body, n_body, 0, NULL) : json_object();
    bool is_empty = json_is_object(read) && json_object_size(read) == 0;
    json_decref(read);
    return is_empty ? 0 : err_set(err, ERR_PARSE, "the body: expected none, or {}");
}

/* A change whose body says nothing. */
static int make_plain(const struct http_admin_order *order, struct arena *arena,
                      const char **answer, struct err *err)
{
    enum http_target_page page = order->target->page;
    const char *lease = order->target->query.name;
    struct msg msg = {.site = ""};
    if (page == HTTP_TARGET_RELOAD) {
        return shell_reload(hub_shell(order->hub), order->who, arena, answer, err);
    }
    if (page == HTTP_TARGET_REBALANCE) {
        msg.kind = MSG_REBALANCE;
        msg.rebalance.lease = lease;
    } else {
        msg.kind = MSG_SET_DRAIN;
        msg.set_drain = (struct msg_set_drain){.scope = DRAIN_LEASE,
                                               .name = lease,
                                               .is_drained = page == HTTP_TARGET_DRAIN};
    }
    return hub_ask(order->hub, &msg, order->who, arena, answer, err);
}

int http_admin_change(const struct http_admin_order *order, struct arena *arena,
                      const char **answer, struct err *err)
{
    if (order->target->page == HTTP_TARGET_RECLAIM) {
        return set_reclaim(order, arena, answer, err);
    }
    int rc = check_empty(order->body, order->n_body, err);
    return rc == 0 ? make_plain(order, arena, answer, err) : rc;
}
