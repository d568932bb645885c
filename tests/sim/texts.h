/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h: a scenario and the configuration files that it names, in memory or in a
 * directory of their own.
 *
 * Ownership: bodies are copied, and freed by texts_release. Order: as added; files of a
 * directory by name. */
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
/* Replaces a text of the same name. */
void texts_set(struct texts *texts, const char *name, const char *body, size_t length);
/* NULL if there is none. */
const char *texts_find(const struct texts *texts, const char *name);
void texts_remove(struct texts *texts, const char *name);
/* `to` need not be initialised. */
void texts_copy(const struct texts *from, struct texts *to);
bool texts_is_same(const struct texts *left, const struct texts *right);
int texts_count_lines(const struct texts *texts);

/* Reads the files of a directory except README.md; false if that fails. */
bool texts_load(struct texts *texts, const char *directory);
/* Creates the directory; false if a file cannot be written. */
bool texts_save(const struct texts *texts, const char *directory);

#endif
