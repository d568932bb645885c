/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h: a scenario and the configuration files it names, by name, in memory or in a
 * directory of their own.
 *
 * Ownership: bodies are copied, texts_release frees them. Order: as added; a
 * directory's files by name. */
#ifndef SUBLET_TESTS_SIM_TEXTS_H
#define SUBLET_TESTS_SIM_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXTS_MAX = 24, TEXT_NAME_SIZE = 64 };

#define TEXTS_SCENARIO "scenario" /* the file that names the others */

struct text {
    char name[TEXT_NAME_SIZE];
    char *body; /* ends in a NUL */
};

struct texts {
    struct text items[TEXTS_MAX];
    int count;
};

void texts_release(struct texts *texts);
/* A text of the same name is replaced. */
void texts_set(struct texts *texts, const char *name, const char *body, size_t length);
/* NULL where there is none. */
const char *texts_find(const struct texts *texts, const char *name);
void texts_remove(struct texts *texts, const char *name);
/* `to` need not be initialised. */
void texts_copy(const struct texts *from, struct texts *to);
bool texts_is_same(const struct texts *left, const struct texts *right);
int texts_count_lines(const struct texts *texts);

/* The files of a directory, README aside; false where it cannot be read. */
bool texts_load(struct texts *texts, const char *directory);
/* Makes the directory; false where a file cannot be written. */
bool texts_save(const struct texts *texts, const char *directory);

#endif
