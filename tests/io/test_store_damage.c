/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_damage.c: a thousand random damages of each file of each store, by the
 * functions that the daemons open them with: the file is refused, or all that was
 * committed is there as it was.
 *
 * A process that was killed has left the stores: a part is in the database, a part in
 * the write-ahead log. DAMAGES=N tries another number, of the commit files too, of
 * which 200 are tried otherwise; SEED=N tries others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "broker/io/store/store.h"
#include "host/agent/mark_file.h"
#include "host/agent/spec_writer.h"
#include "host/agent/start_file.h"
#include "host/exec/exec.h"
#include "host/run_dir/run_dir.h"
#include "site/io/journal.h"
#include "sys/log.h"
#include "tests/io/journal_rows.h"

enum { COMMITS = 30, FILES_MAX = 4, PATH_SIZE = 96, TEXT_SIZE = 1 << 20 };

/* ---------------------------------------------------------------- what is tried */

struct kept {
    char text[TEXT_SIZE];
    size_t length;
};

/* A store in its directory: `fill` makes it, `read` opens it as its daemon does. */
struct subject {
    const char *name;
    const char *files[FILES_MAX];
    void (*fill)(void);
    int (*read)(struct kept *kept, struct err *err);
};

static char directory[64];

static const char *path_of(const char *file)
{
    static char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", directory, file);
    return path;
}

/* ---------------------------------------------------------------- databases */

static void keep_value(struct kept *kept, sqlite3_stmt *row, int column)
{
    const void *bytes = sqlite3_column_blob(row, column);
    size_t size = (size_t)sqlite3_column_bytes(row, column);
    int type = sqlite3_column_type(row, column);
    assert_true(kept->length + size + 2 < TEXT_SIZE);
    kept->text[kept->length++] = (char)('0' + type);
    if (size > 0) {
        memcpy(kept->text + kept->length, bytes, size);
    }
    kept->length += size;
    kept->text[kept->length++] = '\n';
}

static int keep_rows(struct kept *kept, sqlite3 *handle, const char *sql,
                     struct err *err)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(handle, sql, -1, &row, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(row);
        for (int i = 0; rc == SQLITE_ROW && i < sqlite3_column_count(row); i++) {
            keep_value(kept, row, i);
        }
    }
    sqlite3_finalize(row);
    return rc == SQLITE_DONE ? 0 : err_set(err, ERR_IO, "%s", sqlite3_errmsg(handle));
}

/* Every row of every table. */
static int keep_database(struct kept *kept, struct db *db, struct err *err)
{
    sqlite3 *handle = db_handle(db);
    sqlite3_stmt *table = NULL;
    int rc = 0;
    assert_int_equal(sqlite3_prepare_v2(handle,
                                        "SELECT name FROM sqlite_schema WHERE type = "
                                        "'table' ORDER BY name",
                                        -1, &table, NULL),
                     SQLITE_OK);
    while (rc == 0 && sqlite3_step(table) == SQLITE_ROW) {
        char sql[128];
        snprintf(sql, sizeof(sql), "SELECT * FROM %s", sqlite3_column_text(table, 0));
        rc = keep_rows(kept, handle, sql, err);
    }
    sqlite3_finalize(table);
    return rc;
}

static void commit_or_die(struct db *db, void *store,
                          int (*write)(void *, const struct row *, struct err *),
                          const struct row *row)
{
    struct err err;
    if (db_begin(db, &err) < 0 || write(store, row, &err) < 0 ||
        db_commit(db, &err) < 0) {
        _exit(1);
    }
}

static int write_journal(void *journal, const struct row *row, struct err *err)
{
    return journal_write(journal, row, err);
}

static int write_store(void *store, const struct row *row, struct err *err)
{
    return store_write(store, row, err);
}

/* In a process that ends as if killed. The first half is in the database. */
static void fill_journal(void)
{
    struct err err;
    for (uint64_t half = 0; half < 2; half++) {
        struct journal *journal;
        if (journal_open(path_of("journal.db"), false, &journal, &err) < 0) {
            _exit(1);
        }
        for (uint64_t i = 1; i <= COMMITS; i++) {
            struct row row = journal_rows_job(half * COMMITS + i, journal_rows_full());
            commit_or_die(journal_db(journal), journal, write_journal, &row);
        }
        if (half == 0) {
            journal_close(journal);
        }
    }
}

static void fill_broker(void)
{
    struct err err;
    for (int half = 0; half < 2; half++) {
        struct store *store;
        if (store_open(path_of("broker.db"), false, &store, &err) < 0) {
            _exit(1);
        }
        for (int i = 1; i <= COMMITS; i++) {
            char id[32];
            snprintf(id, sizeof(id), "north/%d/south", half * COMMITS + i);
            struct host_split host = {.host = "n1", .n_slots = 4};
            struct row row = {.kind = ROW_LEASE,
                              .lease = {.id = id,
                                        .provider = "north",
                                        .policy = "1",
                                        .consumer = "south",
                                        .epoch = (uint64_t)i,
                                        .reason = "because of a test",
                                        .hosts = &host,
                                        .n_hosts = 1}};
            commit_or_die(store_db(store), store, write_store, &row);
        }
        if (half == 0) {
            store_close(store);
        }
    }
}

static int read_journal(struct kept *kept, struct err *err)
{
    struct journal *journal;
    if (journal_open(path_of("journal.db"), false, &journal, err) < 0) {
        return err->code;
    }
    int rc = keep_database(kept, journal_db(journal), err);
    journal_close(journal);
    return rc;
}

static int read_broker(struct kept *kept, struct err *err)
{
    struct store *store;
    if (store_open(path_of("broker.db"), false, &store, err) < 0) {
        return err->code;
    }
    int rc = keep_database(kept, store_db(store), err);
    store_close(store);
    return rc;
}

/* ---------------------------------------------------------------- files of a host */

static int open_directory(void)
{
    int dir = open(directory, O_RDONLY | O_DIRECTORY);
    assert_true(dir >= 0);
    return dir;
}

static void keep(struct kept *kept, const void *bytes, size_t size)
{
    memcpy(kept->text + kept->length, bytes, size);
    kept->length += size;
}

/* The last of a record's two places is damaged as often as the one before it, so only
 * the first record is written: what is read must be that, or nothing. */
static void fill_state(void)
{
    struct guard_record record = {.phase = RUN_ENDED,
                                  .end = RUN_END_EXITED,
                                  .token = 77,
                                  .start_ms = 1000,
                                  .end_ms = 2000};
    struct err err;
    int dir = open_directory();
    assert_int_equal(record_file_write(dir, &record, &err), 0);
    close(dir);
}

static int read_state(struct kept *kept, struct err *err)
{
    struct guard_record record;
    int dir = open_directory();
    int rc = record_file_read(dir, &record, err);
    close(dir);
    if (rc == 0) {
        char text[GUARD_RECORD_MAX];
        keep(kept, text, guard_record_format(&record, text));
    }
    return rc;
}

typedef int write_start_fn(int dir, const struct msg_run_start *start, struct err *err);

static void fill_run(write_start_fn *write_start)
{
    struct row row = journal_rows_job(7, journal_rows_full());
    struct host_slots host = {"n1", 2};
    struct msg_run_start start = {.run = {"south", 7, 99},
                                  .job = "7",
                                  .lease = "",
                                  .account = "",
                                  .spec = row.job.spec,
                                  .hosts = &host,
                                  .n_hosts = 1};
    struct err err = {0};
    int dir = open_directory();
    start.spec.env = NULL;
    start.spec.n_env = 0;
    if (write_start(dir, &start, &err) < 0) {
        fail_msg("%s", err.text);
    }
    close(dir);
}

static void fill_start(void)
{
    fill_run(start_file_write);
}

static int read_start(struct kept *kept, struct err *err)
{
    struct msg_run_start start;
    struct arena arena;
    arena_init(&arena);
    int dir = open_directory();
    int rc = start_file_read(dir, &arena, &start, err);
    close(dir);
    if (rc == 0) {
        keep(kept, &start.run.nonce, sizeof(start.run.nonce));
        keep(kept, start.spec.command, strlen(start.spec.command));
    }
    arena_release(&arena);
    return rc;
}

static int write_spec(int dir, const struct msg_run_start *start, struct err *err)
{
    struct spec_writer_setting setting = {.cgroup = "", .memory = "", .wait_ms = 1000};
    return spec_writer_write(dir, "south.7", start, &setting, err);
}

static void fill_spec(void)
{
    fill_run(write_spec);
}

static int read_spec(struct kept *kept, struct err *err)
{
    struct run_spec spec = {0};
    int dir = open_directory();
    int rc = run_dir_read_spec(dir, &spec, err);
    close(dir);
    if (rc == 0) {
        keep(kept, spec.command, strlen(spec.command));
        keep(kept, &spec.umask, sizeof(spec.umask));
        for (int i = 0; i < spec.n_env; i++) {
            keep(kept, spec.env[i], strlen(spec.env[i]));
        }
    }
    run_spec_release(&spec);
    return rc;
}

static void fill_mark(void)
{
    mark_file_write(directory, &(struct journal_mark){1234567, 4321, 321});
}

/* Zeros: nothing is known, and the log says so. */
static int read_mark(struct kept *kept, struct err *err)
{
    struct journal_mark mark = mark_file_read(directory);
    if (mark.commits == 0 && mark.attempt == 0 && mark.job == 0) {
        return err_set(err, ERR_PARSE, "damaged");
    }
    keep(kept, &mark, sizeof(mark));
    return 0;
}

static const struct subject subjects[] = {
    {"journal",
     {"journal.db", "journal.db-wal", "journal.db-commit"},
     fill_journal,
     read_journal},
    {"broker",
     {"broker.db", "broker.db-wal", "broker.db-commit"},
     fill_broker,
     read_broker},
    {"record of a run", {"state"}, fill_state, read_state},
    {"start of a run", {"start"}, fill_start, read_start},
    {"spec of a run", {"spec"}, fill_spec, read_spec},
    {"mark of a host", {"mark"}, fill_mark, read_mark},
};
enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

/* ---------------------------------------------------------------- files */

struct content {
    uint8_t *bytes;
    size_t size;
};

static struct content read_content(const char *file)
{
    struct stat status;
    struct content content = {0};
    FILE *from = fopen(path_of(file), "rb");
    assert_non_null(from);
    assert_int_equal(fstat(fileno(from), &status), 0);
    content.size = (size_t)status.st_size;
    content.bytes = mem_alloc(content.size + 1, 1);
    assert_int_equal(fread(content.bytes, 1, content.size, from), content.size);
    fclose(from);
    return content;
}

static void write_content(const char *file, const struct content *content)
{
    FILE *to = fopen(path_of(file), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(content->bytes, 1, content->size, to), content->size);
    fclose(to);
}

/* Changes something for certain. */
static struct content damage(const struct content *whole, struct rng *rng)
{
    struct content damaged = {mem_alloc(whole->size + 1, 1), whole->size};
    do {
        size_t at = (size_t)rng_below(rng, (int64_t)whole->size);
        size_t rest = whole->size - at, page = rest < 4096 ? rest : 4096;
        memcpy(damaged.bytes, whole->bytes, whole->size);
        damaged.size = whole->size;
        switch (rng_below(rng, 5)) {
        case 0:
        case 1:
            damaged.bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
            break;
        case 2:
            memset(damaged.bytes + at, 0, page);
            break;
        case 3:
            damaged.size = at;
            break;
        default:
            memset(damaged.bytes + at, 0xa5, page);
        }
    } while (damaged.size == whole->size &&
             memcmp(damaged.bytes, whole->bytes, whole->size) == 0);
    return damaged;
}

/* ---------------------------------------------------------------- trials */

struct counts {
    int n_tried, n_refused, n_missing;
};

static void restore(const struct subject *subject, const struct content *files)
{
    for (int i = 0; i < FILES_MAX && subject->files[i] != NULL; i++) {
        write_content(subject->files[i], &files[i]);
    }
}

static void try_file(const struct subject *subject, const struct content *files,
                     int file, const struct kept *whole, struct rng *rng, int n_trials,
                     struct counts *counts)
{
    static struct kept kept;
    for (int i = 0; i < n_trials; i++) {
        struct content damaged = damage(&files[file], rng);
        struct err err;
        restore(subject, files);
        write_content(subject->files[file], &damaged);
        kept.length = 0;
        bool is_refused = subject->read(&kept, &err) < 0;
        counts->n_tried++;
        counts->n_refused += is_refused;
        if (!is_refused && (kept.length != whole->length ||
                            memcmp(kept.text, whole->text, whole->length) != 0)) {
            counts->n_missing++;
            print_message("damage %d of %s was not noticed (%zu of %zu bytes)\n", i,
                          subject->files[file], damaged.size, files[file].size);
        }
        free(damaged.bytes);
    }
}

static void fill(const struct subject *subject)
{
    pid_t child = fork();
    if (child == 0) {
        subject->fill();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static int number_of(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (int)strtol(text, NULL, 10) : otherwise;
}

static int try_subject(const struct subject *subject)
{
    static struct kept whole;
    struct content files[FILES_MAX] = {0};
    struct err err = {0};
    struct rng rng;
    rng_init(&rng, (uint64_t)number_of("SEED", 1));
    fill(subject);
    for (int i = 0; i < FILES_MAX && subject->files[i] != NULL; i++) {
        files[i] = read_content(subject->files[i]);
    }
    whole.length = 0;
    int n_missing = 0;
    if (subject->read(&whole, &err) < 0) {
        print_message("%s: %s\n", subject->name, err.text);
        n_missing++;
    }
    for (int i = 0; i < FILES_MAX && subject->files[i] != NULL; i++) {
        struct counts counts = {0};
        /* A commit file says nothing once it is damaged, so that each trial opens and
         * closes a whole store, which takes long. */
        bool is_slow = strstr(subject->files[i], "-commit") != NULL;
        int n_trials = number_of("DAMAGES", is_slow ? 200 : 1000);
        try_file(subject, files, i, &whole, &rng, n_trials, &counts);
        print_message(
            "%-18s %-18s tried %d, refused %d, harmless %d, lost or wrong "
            "%d\n",
            subject->name, subject->files[i], counts.n_tried, counts.n_refused,
            counts.n_tried - counts.n_refused - counts.n_missing, counts.n_missing);
        n_missing += counts.n_missing;
    }
    for (int i = 0; i < FILES_MAX; i++) {
        free(files[i].bytes);
    }
    return n_missing;
}

/* Each in a directory and a process of its own. */
static void test_random_damage(void **state)
{
    pid_t children[SUBJECTS];
    (void)state;
    fflush(stdout);
    for (int i = 0; i < SUBJECTS; i++) {
        if ((children[i] = fork()) == 0) {
            size_t length = strlen(directory);
            snprintf(directory + length, sizeof(directory) - length, "/%d", i);
            exit(mkdir(directory, 0700) == 0 && try_subject(&subjects[i]) == 0 ? 0 : 1);
        }
    }
    int n_failed = 0;
    for (int i = 0; i < SUBJECTS; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        n_failed += status != 0;
    }
    assert_int_equal(n_failed, 0);
}

/* In memory: the trials open thousands of stores. */
static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/dev/shm/test_store_damage.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        snprintf(directory, sizeof(directory), "/tmp/test_store_damage.XXXXXX");
        assert_non_null(mkdtemp(directory));
    }
    return 0;
}

static int remove_directory(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_damage, make_directory,
                                        remove_directory),
    };
    log_init("test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
