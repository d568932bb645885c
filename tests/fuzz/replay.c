/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c: runs a fuzz target over files, without a fuzzer: the whole corpus of its
 * name (from the root of the repository), or the files that are named. An input that
 * fails aborts, after its name was printed. Ends as a cmocka test does. */
#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/input.h"

enum { FILE_MAX = 1 << 20 };

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(FILE_MAX);
    if (file == NULL || bytes == NULL) {
        input_fail("%s cannot be read", path);
    }
    size_t size = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    /* Exactly as long as the input, so that a sanitizer detects reads behind it. */
    uint8_t *exact = malloc(size + (size == 0));
    if (exact == NULL) {
        input_fail("%s is too long", path);
    }
    memcpy(exact, bytes, size);
    free(bytes);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int replay_corpus(const char *target)
{
    char directory[256], path[600];
    struct dirent **entries;
    snprintf(directory, sizeof(directory), "tests/fuzz/corpus/%s", target);
    int count = scandir(directory, &entries, NULL, alphasort), n_files = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
            replay_file(path);
            n_files++;
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return n_files;
}

int main(int argc, char **argv)
{
    int n_files = argc - 1;
    for (int i = 1; i < argc; i++) {
        replay_file(argv[i]);
    }
    if (argc == 1) {
        const char *name = basename(argv[0]); /* fuzz_codec: codec */
        n_files = replay_corpus(name + strlen("fuzz_"));
    }
    printf("[==========] %d inputs\n", n_files);
    printf("[  PASSED  ] %d test(s).\n", n_files > 0);
    return n_files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
