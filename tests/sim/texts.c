/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c: see texts.h. */
#include "tests/sim/texts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"

enum { FILE_MAX = 4 << 20, PATH_SIZE = 4096 };

void texts_release(struct texts *texts)
{
    for (int i = 0; i < texts->count; i++) {
        free(texts->items[i].body);
    }
    texts->count = 0;
}

static int find(const struct texts *texts, const char *name)
{
    for (int i = 0; i < texts->count; i++) {
        if (!strcmp(texts->items[i].name, name)) {
            return i;
        }
    }
    return -1;
}

void texts_set(struct texts *texts, const char *name, const char *body, size_t length)
{
    int at = find(texts, name);
    char *copy = mem_alloc(length + 1, 1);

    memcpy(copy, body, length);
    if (at < 0) {
        if (texts->count == TEXTS_MAX) {
            abort();
        }
        at = texts->count++;
        snprintf(texts->items[at].name, TEXT_NAME_SIZE, "%s", name);
    } else {
        free(texts->items[at].body);
    }
    texts->items[at].body = copy;
}

const char *texts_find(const struct texts *texts, const char *name)
{
    int at = find(texts, name);

    return at < 0 ? NULL : texts->items[at].body;
}

void texts_remove(struct texts *texts, const char *name)
{
    int at = find(texts, name);

    if (at >= 0) {
        free(texts->items[at].body);
        texts->count--;
        memmove(&texts->items[at], &texts->items[at + 1],
                (size_t)(texts->count - at) * sizeof texts->items[0]);
    }
}

void texts_copy(const struct texts *from, struct texts *to)
{
    to->count = 0;
    for (int i = 0; i < from->count; i++) {
        texts_set(to, from->items[i].name, from->items[i].body,
                  strlen(from->items[i].body));
    }
}

bool texts_is_same(const struct texts *left, const struct texts *right)
{
    for (int i = 0; i < left->count && left->count == right->count; i++) {
        if (strcmp(left->items[i].name, right->items[i].name) != 0 ||
            strcmp(left->items[i].body, right->items[i].body) != 0) {
            return false;
        }
    }
    return left->count == right->count;
}

int texts_count_lines(const struct texts *texts)
{
    int n = 0;

    for (int i = 0; i < texts->count; i++) {
        for (const char *at = texts->items[i].body; (at = strchr(at, '\n')); at++) {
            n++;
        }
    }
    return n;
}

static bool load_file(struct texts *texts, const char *directory, const char *name)
{
    char path[PATH_SIZE];
    char *body;
    size_t length;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    body = mem_alloc(FILE_MAX, 1);
    length = fread(body, 1, FILE_MAX, file);
    fclose(file);
    texts_set(texts, name, body, length);
    free(body);
    return true;
}

static int is_text(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strncmp(entry->d_name, "README", 6) != 0;
}

bool texts_load(struct texts *texts, const char *directory)
{
    struct dirent **entries;
    int n = scandir(directory, &entries, is_text, alphasort);
    bool is_ok = n > 0 && n <= TEXTS_MAX;

    texts->count = 0;
    for (int i = 0; i < n; i++) {
        is_ok = is_ok && load_file(texts, directory, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
    return is_ok;
}

bool texts_save(const struct texts *texts, const char *directory)
{
    bool is_ok = mkdir(directory, 0777) == 0 || errno == EEXIST;

    for (int i = 0; is_ok && i < texts->count; i++) {
        char path[PATH_SIZE];
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", directory, texts->items[i].name);
        file = fopen(path, "w");
        is_ok = file && fputs(texts->items[i].body, file) >= 0;
        if (file && fclose(file) != 0) {
            is_ok = false;
        }
    }
    return is_ok;
}
