/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cgroup.h: a directory with files in it, as the kernel's of cgroups, to see what
 * is written there and to say what is read. */
#ifndef SUBLET_TESTS_UNIT_HOST_FAKE_CGROUP_H
#define SUBLET_TESTS_UNIT_HOST_FAKE_CGROUP_H

enum { FAKE_CGROUP_PATH = 512 };

struct fake_cgroup {
    char root[64];
};

void fake_cgroup_init(struct fake_cgroup *fake);
void fake_cgroup_release(struct fake_cgroup *fake);

/* Below the root, in one of a few buffers that take turns. */
const char *fake_cgroup_path(const struct fake_cgroup *fake, const char *name);
void fake_cgroup_make_dir(const struct fake_cgroup *fake, const char *name);
/* A file with this text, in place of what was there. */
void fake_cgroup_put(const struct fake_cgroup *fake, const char *name,
                     const char *text);
/* What stands in it now begins with that: the kernel's files are not made shorter. */
void fake_cgroup_expect(const struct fake_cgroup *fake, const char *name,
                        const char *text);

#endif
