/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_conf.c: text of configuration files; a NUL ends one and begins the next. A
 * configuration without errors can be started. */
#include <string.h>

#include "broker/broker_config.h"
#include "site/config/site_config.h"
#include "site/site.h"
#include "tests/fuzz/input.h"

enum { FILES_MAX = 8 };

static void check_diags(const struct conf *conf)
{
    int count = 0;
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        if (diag->text == NULL || diag->text[0] == '\0' || diag->file == NULL) {
            input_fail("a complaint says nothing");
        }
        count++;
    }
    if (count != conf->n_errors + conf->n_warnings) {
        input_fail("%d complaints, counted %d", count,
                   conf->n_errors + conf->n_warnings);
    }
}

static void start_site(const struct site_config *config)
{
    struct effects effects;
    struct event tick = {.kind = EVENT_TICK, .now_ms = 1000};
    effects_init(&effects);
    struct site *site = site_new(config);
    site_start(site, tick.now_ms, &effects);
    site_step(site, &tick, &effects);
    site_free(site);
    effects_release(&effects);
}

static void start_broker(const struct broker_config *config)
{
    struct effects effects;
    effects_init(&effects);
    struct broker *broker = broker_new(config);
    broker_start(broker, 1000, &effects);
    broker_free(broker);
    effects_release(&effects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct conf conf;
    struct site_setup site;
    struct broker_setup broker;
    arena_init(&arena);
    conf_init(&conf, &arena);
    for (int i = 0; i < FILES_MAX && size > 0; i++) {
        const uint8_t *end = memchr(data, '\0', size);
        size_t length = end != NULL && i < FILES_MAX - 1 ? (size_t)(end - data) : size;
        conf_read(&conf, "fuzz.conf", (const char *)data, length);
        size_t taken = length < size ? length + 1 : length;
        data += taken;
        size -= taken;
    }
    conf_check(&conf);
    bool has_broker = broker_config_read(&conf, &broker);
    bool has_site = site_config_read(&conf, &site);
    check_diags(&conf);
    if (conf.n_errors == 0 && has_broker) {
        start_broker(&broker.config);
    }
    if (conf.n_errors == 0 && has_site) {
        start_site(&site.config);
    }
    arena_release(&arena);
    return 0;
}
