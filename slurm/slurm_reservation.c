/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_reservation.c: see slurm_reservation.h. */
#include "slurm/slurm_reservation.h"

#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"
#include "slurm/slurm_hostlist.h"
#include "slurm/slurm_row.h"

const char *const slurm_reservation_command[] = {"scontrol", "--oneliner", "show",
                                                 "reservation", NULL};

static const char none_text[] = "No reservations in the system";
static const char name_key[] = "ReservationName=";

/* ---------------------------------------------------------------- one line */

/* The value of " KEY=" up to the next blank; "" for "(null)", NULL if there is none. */
static const char *find_value(struct arena *arena, const char *line, const char *key)
{
    const char *at = strstr(line, key);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    const char *value = arena_strn(arena, at, strcspn(at, " "));
    return strcmp(value, "(null)") == 0 ? "" : value;
}

static int read_time(struct arena *arena, const char *line, const char *key,
                     int64_t *time_s, struct err *err)
{
    struct err cause;
    const char *value = find_value(arena, line, key);
    if (value == NULL) {
        return err_set(err, ERR_PARSE,
                       "there is no%s, expected a reservation of "
                       "scontrol",
                       key);
    }
    return conf_parse_int(value, 0, UINT32_MAX, time_s, &cause) == 0
               ? 0
               : err_set(err, ERR_PARSE,
                         "%s%s, expected seconds since 1970 (SLURM_TIME_FORMAT=%%s)",
                         key, value);
}

bool slurm_reservation_has_word(const char *words, const char *word, size_t length)
{
    for (;;) {
        size_t next = strcspn(words, ",");
        if (next == length && strncmp(words, word, length) == 0) {
            return true;
        }
        if (words[next] == '\0') {
            return false;
        }
        words += next + 1;
    }
}

static int read_reservation(struct arena *arena, const char *line,
                            struct slurm_reservation *reservation, struct err *err)
{
    const char *start = strstr(line, " StartTime=");
    if (strncmp(line, name_key, strlen(name_key)) != 0 || start == NULL) {
        return err_set(err, ERR_PARSE,
                       "\"%.40s\", expected a reservation of scontrol of Slurm 22.05 "
                       "or later",
                       line);
    }
    const char *name = line + strlen(name_key);
    *reservation = (struct slurm_reservation){
        .name = arena_strn(arena, name, (size_t)(start - name))};
    int rc = read_time(arena, start, " StartTime=", &reservation->start_s, err);
    if (rc == 0) {
        rc = read_time(arena, start, " EndTime=", &reservation->end_s, err);
    }
    const char *nodes = find_value(arena, start, " Nodes=");
    const char *users = find_value(arena, start, " Users=");
    const char *flags = find_value(arena, start, " Flags=");
    const char *state = find_value(arena, start, " State=");
    if (rc == 0 && (nodes == NULL || users == NULL || flags == NULL || state == NULL)) {
        rc = err_set(err, ERR_PARSE, "there is no Nodes=, Users=, Flags= or State=");
    }
    if (rc < 0) {
        return rc;
    }
    reservation->users = users;
    reservation->is_flex = slurm_reservation_has_word(flags, "FLEX", strlen("FLEX"));
    reservation->is_active = strcmp(state, "ACTIVE") == 0;
    return slurm_hostlist_read(arena, nodes, &reservation->nodes, &reservation->n_nodes,
                               err);
}

int slurm_reservation_read(struct arena *arena, const char *text,
                           struct slurm_reservations *reservations, struct err *err)
{
    struct slurm_reservations made = {.count = 0};
    if (strncmp(text, none_text, strlen(none_text)) == 0) {
        *reservations = made;
        return 0;
    }
    int n_lines = slurm_row_count(text, HOSTS_MAX, err);
    if (n_lines < 0) {
        return n_lines;
    }
    made.items = arena_alloc(arena, (size_t)n_lines, sizeof(*made.items));
    do { /* an empty answer is none of scontrol */
        size_t length = strcspn(text, "\n");
        const char *line = arena_strn(arena, text, length);
        if (read_reservation(arena, line, &made.items[made.count], err) < 0) {
            return err_prefix(err, "line %d", made.count + 1);
        }
        made.count++;
        text += length + (text[length] == '\n');
    } while (*text != '\0');
    *reservations = made;
    return 0;
}

/* ---------------------------------------------------------------- names */

static const char *replace(struct arena *arena, const char *text, char from, char to)
{
    char *copy = arena_str(arena, text);
    for (char *at = copy; (at = strchr(at, from)) != NULL;) {
        *at++ = to;
    }
    return copy;
}

const char *slurm_reservation_format_name(struct arena *arena,
                                          const struct slurm_reservation_name *name)
{
    return arena_printf(
        arena, "sublet_%s_%s_%s_e%llu", replace(arena, name->site, '_', '@'),
        replace(arena, name->policy, '_', '@'),
        replace(arena, name->consumer, '_', '@'), (unsigned long long)name->epoch);
}

bool slurm_reservation_parse_name(struct arena *arena, const char *text,
                                  struct slurm_reservation_name *name)
{
    const char *words[5];
    int64_t epoch;
    char *rest = arena_str(arena, text);
    for (int i = 0; i < 5; i++) {
        words[i] = strsep(&rest, "_");
        if (words[i] == NULL) {
            return false;
        }
    }
    if (rest != NULL || strcmp(words[0], "sublet") != 0 || words[4][0] != 'e' ||
        conf_parse_int(words[4] + 1, 1, INT64_MAX, &epoch, NULL) != 0) {
        return false;
    }
    *name =
        (struct slurm_reservation_name){.site = replace(arena, words[1], '@', '_'),
                                        .policy = replace(arena, words[2], '@', '_'),
                                        .consumer = replace(arena, words[3], '@', '_'),
                                        .epoch = (uint64_t)epoch};
    return strcmp(slurm_reservation_format_name(arena, name), text) == 0 &&
           conf_parse_name(name->site, NULL) == 0 &&
           conf_parse_name(name->policy, NULL) == 0 &&
           conf_parse_name(name->consumer, NULL) == 0;
}
