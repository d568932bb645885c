/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_elim.c: output of an administrator's program, or LSF_LOCAL_RESOURCES: the first
 * byte selects which. Accepted values can be sent. */
#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"
#include "host/load/elim_line.h"
#include "model/local_resources.h"
#include "proto/codec.h"
#include "tests/fuzz/input.h"

static void check_told(const struct load_value *values, int count)
{
    struct msg msg = {.kind = MSG_HOST_LOAD, .site = ""};
    struct err err;
    uint8_t *bytes;
    size_t length;
    msg.host_load = (struct msg_host_load){.values = values, .n_values = count};
    if (codec_encode(&msg, &bytes, &length, &err) != 0) {
        input_fail("what was taken cannot be told: %s", err.text);
    }
    free(bytes);
}

static void take_line(const uint8_t *data, size_t size)
{
    struct elim_pair pairs[ELIM_PAIRS_MAX];
    struct load_value values[ELIM_PAIRS_MAX];
    struct elim_table *table = mem_alloc(1, sizeof(*table));
    char *line = mem_alloc(size + 1, 1);
    int count = -1;
    memcpy(line, data, size);
    if (elim_line_parse(line, size, pairs, &count, NULL) == 0) {
        for (int i = 0; i < count; i++) {
            if (conf_parse_resource(pairs[i].name, NULL) != 0) {
                input_fail("\"%s\" is not a name", pairs[i].name);
            }
        }
        elim_table_take(table, pairs, count, 1000);
        check_told(values, elim_table_list(table, values, ELIM_PAIRS_MAX));
    } else if (count != -1) {
        input_fail("a line that is refused left %d pairs", count);
    }
    free(line);
    free(table);
}

static void take_local(const uint8_t *data, size_t size)
{
    struct load_value values[LOCAL_RESOURCES_MAX];
    struct arena arena;
    int count;
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)data, size);
    if (local_resources_read(&arena, text, values, &count, NULL) == 0) {
        check_told(values, count);
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && size <= ELIM_LINE_MAX) {
        (data[0] % 2 == 0 ? take_line : take_local)(data + 1, size - 1);
    }
    return 0;
}
