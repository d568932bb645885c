/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cgroup.c: see fake_cgroup.h. */
#include "tests/unit/host/fake_cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void fake_cgroup_init(struct fake_cgroup *fake)
{
    snprintf(fake->root, sizeof(fake->root), "/tmp/sublet-cgroup-XXXXXX");
    assert_non_null(mkdtemp(fake->root));
}

static int delete_one(const char *path, const struct stat *status, int kind,
                      struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void fake_cgroup_release(struct fake_cgroup *fake)
{
    nftw(fake->root, delete_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fake_cgroup_path(const struct fake_cgroup *fake, const char *name)
{
    static char paths[4][FAKE_CGROUP_PATH];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, FAKE_CGROUP_PATH, "%s/%s", fake->root, name);
    return path;
}

void fake_cgroup_make_dir(const struct fake_cgroup *fake, const char *name)
{
    assert_int_equal(mkdir(fake_cgroup_path(fake, name), 0755), 0);
}

void fake_cgroup_put(const struct fake_cgroup *fake, const char *name, const char *text)
{
    FILE *file = fopen(fake_cgroup_path(fake, name), "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

void fake_cgroup_expect(const struct fake_cgroup *fake, const char *name,
                        const char *text)
{
    char got[1024] = "";
    FILE *file = fopen(fake_cgroup_path(fake, name), "re");
    assert_non_null(file);
    size_t length = fread(got, 1, sizeof(got) - 1, file);
    fclose(file);
    got[length < strlen(text) ? length : strlen(text)] = '\0';
    assert_string_equal(got, text);
}
