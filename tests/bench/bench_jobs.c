/* SPDX-License-Identifier: Apache-2.0 */
/* bench_jobs.c: jobs of /bin/true at one site with one host of 64 slots, from
 * submission to a recorded exit status; and the time that a job waits for its start on
 * an idle site.
 *
 * The driver uses one connection to the socket of the site and has IN_FLIGHT jobs open:
 * SUBMIT, then WAIT for the job, which is answered when its end is in the journal. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sys/local/local.h"
#include "tests/bench/bench.h"
#include "tests/bench/floor.h"

enum {
    IN_FLIGHT = 128,
    IDLE_JOBS = 40,
    IDLE_PAUSE_NS = 20 * 1000 * 1000,
    ANSWER_MS = 20000,
    WAIT_REQUESTS = 1000000, /* requests above are WAITs */
};

static const double warm_s = 1, measured_s = 4;

static const char conf[] = "Begin Site\n"
                           "NAME = bench\n"
                           "SPOOL = %s/spool\n"
                           "HOSTS_HERE = h1\n"
                           "End Site\n"
                           "Begin Host\n"
                           "HOST_NAME MXJ type model RESOURCES\n"
                           "h1 64 X86_64 EPYC (linux)\n"
                           "End Host\n"
                           "Begin Queue\n"
                           "QUEUE_NAME = normal\n"
                           "PRIORITY = 30\n"
                           "HOSTS = all\n"
                           "End Queue\n";

struct driver {
    struct local_client *client;
    struct arena arena;
    uint64_t last;
};

static void must(int code, const struct err *err)
{
    if (code < 0) {
        bench_fail("%s", err->text);
    }
}

static void submit(struct driver *driver)
{
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    struct err err;
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++driver->last;
    msg.submit.spec = (struct job_spec){.name = "true",
                                        .user = "",
                                        .queue = "",
                                        .command = "/bin/true",
                                        .cwd = "/",
                                        .in_file = "",
                                        .out_file = "",
                                        .err_file = "",
                                        .env = env,
                                        .n_env = 1,
                                        .umask = 022,
                                        .n_slots = 1};
    must(local_client_send(driver->client, &msg, &err), &err);
}

static void wait_job(struct driver *driver, const char *job)
{
    struct err err;
    struct msg msg = {.kind = MSG_WAIT, .site = ""};
    msg.wait.request = WAIT_REQUESTS + driver->last;
    msg.wait.job = job;
    must(local_client_send(driver->client, &msg, &err), &err);
}

static json_t *receive(struct driver *driver, uint64_t *request)
{
    struct msg msg;
    struct err err;
    arena_clear(&driver->arena);
    must(local_client_receive(driver->client, &driver->arena, ANSWER_MS, &msg, &err),
         &err);
    if (msg.kind != MSG_REPLY || msg.reply.code != 0) {
        bench_fail("the site refuses: %s",
                   msg.kind == MSG_REPLY ? msg.reply.text : msg_kind_name(msg.kind));
    }
    *request = msg.reply.request;
    return json_loads(msg.reply.json != NULL ? msg.reply.json : "{}", 0, NULL);
}

/* The id of a job just submitted, as text. */
static void take_id(json_t *answer, char *job, size_t size)
{
    snprintf(job, size, "%" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(answer, "job")));
}

/* Has IN_FLIGHT jobs open for that long, and waits for the last of them; returns jobs
 * per second. */
static double run_jobs(struct driver *driver, double seconds)
{
    int n_sent = 0, n_ended = 0;
    double start = bench_now(), now;
    while ((now = bench_now()) < start + seconds || n_ended < n_sent) {
        for (; now < start + seconds && n_sent - n_ended < IN_FLIGHT; n_sent++) {
            submit(driver);
        }
        uint64_t request;
        char job[32];
        json_t *answer = receive(driver, &request);
        if (request > WAIT_REQUESTS) {
            if (json_integer_value(json_object_get(answer, "exit_code")) != 0) {
                bench_fail("a job failed");
            }
            n_ended++;
        } else {
            take_id(answer, job, sizeof(job));
            wait_job(driver, job);
        }
        json_decref(answer);
    }
    return n_ended / (now - start);
}

/* "2026-01-31T12:00:00.123Z" of a job's row; 0 if the job has not started. */
static double read_start_ms(struct driver *driver, const char *job)
{
    struct err err;
    uint64_t request;
    struct msg msg = {.kind = MSG_QUERY, .site = ""};
    msg.query = (struct msg_query){.request = ++driver->last,
                                   .kind = QUERY_JOBS,
                                   .name = job,
                                   .user = "",
                                   .queue = "",
                                   .host = "",
                                   .with_ended = true,
                                   .after = ""};
    must(local_client_send(driver->client, &msg, &err), &err);
    json_t *answer = receive(driver, &request);
    json_t *row = json_array_get(json_object_get(answer, "jobs"), 0);
    const char *text = json_string_value(json_object_get(row, "start_at"));
    struct tm tm = {0};
    const char *rest = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (rest == NULL) {
        bench_fail("job %s has no start", job);
    }
    double ms = (double)timegm(&tm) * 1e3 + strtod(rest, NULL) * 1e3;
    json_decref(answer);
    return ms;
}

/* One job at a time; records the time until its start, and until its end. */
static void run_idle(struct driver *driver, double *start_ms, double *end_ms)
{
    for (int i = 0; i < IDLE_JOBS; i++) {
        uint64_t request;
        char job[32];
        struct timespec pause = {.tv_nsec = IDLE_PAUSE_NS};
        nanosleep(&pause, NULL);
        double from_ms = bench_wall_ms();
        submit(driver);
        json_t *answer = receive(driver, &request);
        take_id(answer, job, sizeof(job));
        json_decref(answer);
        wait_job(driver, job);
        json_decref(receive(driver, &request));
        end_ms[i] = bench_wall_ms() - from_ms;
        start_ms[i] = read_start_ms(driver, job) - from_ms;
    }
}

int main(void)
{
    struct bench_place place;
    struct driver driver = {0};
    struct bench_series rate = {0}, spawn = {0}, start50 = {0}, start99 = {0},
                        end50 = {0};
    struct err err;
    bench_place_init(&place);
    bench_place_write(&place, "site.conf", conf, place.dir);
    bench_place_start(&place, "sublet-site", "site");
    arena_init(&driver.arena);
    must(local_client_new(bench_place_path(&place, "spool/sublet.sock"), &driver.client,
                          &err),
         &err);
    run_jobs(&driver, warm_s); /* the first job waits for the host */
    for (int run = 0; run < BENCH_RUNS; run++) {
        double start_ms[IDLE_JOBS], end_ms[IDLE_JOBS];
        bench_add(&spawn, floor_spawns(8));
        bench_add(&rate, run_jobs(&driver, measured_s));
        run_idle(&driver, start_ms, end_ms);
        bench_add(&start50, bench_percentile(start_ms, IDLE_JOBS, 0.5));
        bench_add(&start99, bench_percentile(start_ms, IDLE_JOBS, 0.99));
        bench_add(&end50, bench_percentile(end_ms, IDLE_JOBS, 0.5));
    }
    bench_print_head("jobs: /bin/true at one site, one host of 64 slots");
    bench_print_row_floor("submitted to exit status on record, 128 under way", "/s",
                          &rate, "1000; 0.45 x", "posix_spawn of /bin/true", &spawn);
    bench_print_row("idle: submit to start, median", "ms", &start50, "2");
    bench_print_row("idle: submit to start, 99 of 100", "ms", &start99, "6");
    bench_print_row("idle: submit to exit status, median", "ms", &end50, "");
    local_client_free(driver.client);
    arena_release(&driver.arena);
    bench_place_release(&place);
    return 0;
}
