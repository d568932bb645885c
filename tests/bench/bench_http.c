/* SPDX-License-Identifier: Apache-2.0 */
/* bench_http.c: the throughput of HTTP readers and their effect on hand-overs: 1,000
 * leases, 100 of which are handed over per second, while another process queries
 * without pause on one connection, or holds streams open.
 *
 * Driver, reader and broker share the processors of the machine. If it has two, a
 * reader slows a hand-over down by using one of them. "healthz" has only this effect,
 * so the other figures are compared with it. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/handovers.h"

enum {
    LEASES = 1000,
    RECLAIM_MS = 10000,
    READERS = 20,
    TEXT_SIZE = 1 << 20,
    ANSWERS_AT_REST = 50
};

static const double measured_s = 2.5;

/* The counts of the reading process, in shared memory. */
struct tally {
    long answers, bytes;
};

/* ---------------------------------------------------------------- the reader */

static int connect_to(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
        bench_fail("the HTTP port cannot be reached");
    }
    return fd;
}

static void send_request(int fd, const char *path, const char *headers)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n", path,
                     headers);
    if (write(fd, text, (size_t)n) != n) {
        bench_fail("a request cannot be sent");
    }
}

/* Reads the headers and the body into `text`. */
static long read_answer(int fd, char *text)
{
    long have = 0, wanted = -1;
    while (wanted < 0 || have < wanted) {
        ssize_t n = read(fd, text + have, (size_t)(TEXT_SIZE - 1 - have));
        if (n <= 0) {
            bench_fail("an answer ends too soon");
        }
        have += n;
        text[have] = '\0';
        const char *end = wanted < 0 ? strstr(text, "\r\n\r\n") : NULL;
        if (end != NULL) {
            const char *length = strcasestr(text, "content-length:");
            wanted =
                end + 4 - text +
                (length != NULL && length < end ? strtol(length + 15, NULL, 10) : 0);
        }
    }
    return have;
}

static void ask_for_ever(int port, const char *path, const char *headers,
                         bool with_etag, struct tally *tally)
{
    char *text = mem_alloc(TEXT_SIZE, 1), own[256];
    int fd = connect_to(port);
    snprintf(own, sizeof(own), "%s", headers);
    for (;;) {
        send_request(fd, path, own);
        tally->bytes += read_answer(fd, text);
        tally->answers++;
        const char *etag = with_etag ? strcasestr(text, "etag: ") : NULL;
        if (etag != NULL) {
            snprintf(own, sizeof(own), "%sIf-None-Match: %.*s\r\n", headers,
                     (int)strcspn(etag + 6, "\r"), etag + 6);
        }
    }
}

static void read_streams(int port, struct tally *tally)
{
    char *text = mem_alloc(TEXT_SIZE, 1);
    int fds[READERS];
    for (int i = 0; i < READERS; i++) {
        fds[i] = connect_to(port);
        send_request(fds[i], "/api/v1/stream", "");
    }
    for (int i = 0;; i = (i + 1) % READERS) {
        ssize_t n = read(fds[i], text, TEXT_SIZE);
        if (n <= 0) {
            bench_fail("a stream has ended");
        }
        tally->bytes += n;
        tally->answers++;
    }
}

/* ---------------------------------------------------------------- the runs */

static const struct load {
    const char *name, *path, *headers; /* path NULL: no reader; "": streams */
    bool with_etag;
} loads[] = {
    {"nobody asks", NULL, "", false},
    {"healthz, without end", "/healthz", "", false},
    {"one lease", "/api/v1/leases/s0/500/s1", "", false},
    {"500 leases, plain", "/api/v1/leases?limit=500", "", false},
    {"500 leases, gzip", "/api/v1/leases?limit=500", "Accept-Encoding: gzip\r\n",
     false},
    {"500 leases, If-None-Match", "/api/v1/leases?limit=500", "", true},
    {"the page", "/", "Accept-Encoding: gzip\r\n", false},
    {"metrics", "/metrics", "", false},
    {"metrics, gzip", "/metrics", "Accept-Encoding: gzip\r\n", false},
    {"20 streams", "", "", false},
};
enum { N_LOADS = sizeof(loads) / sizeof(loads[0]) };

static pid_t begin_load(const struct load *load, int port, struct tally *tally)
{
    if (load->path == NULL) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (load->path[0] == '\0') {
            read_streams(port, tally);
        }
        ask_for_ever(port, load->path, load->headers, load->with_etag, tally);
    }
    return child;
}

/* The loop's time for one answer, while no lease changes. */
static double at_rest_ms(const struct bench_place *place, const struct load *load,
                         int port)
{
    char *text = mem_alloc(TEXT_SIZE, 1);
    int fd = connect_to(port);
    send_request(fd, load->path, load->headers);
    read_answer(fd, text); /* the first answer does not count */
    double loop_s = -bench_place_loop_s(place);
    for (int i = 0; i < ANSWERS_AT_REST; i++) {
        send_request(fd, load->path, load->headers);
        read_answer(fd, text);
    }
    loop_s += bench_place_loop_s(place);
    close(fd);
    free(text);
    return loop_s * 1e3 / ANSWERS_AT_REST;
}

static void end_load(pid_t child)
{
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

int main(void)
{
    static struct bench_series median[N_LOADS], late[N_LOADS], rate[N_LOADS],
        cpu[N_LOADS], rest[N_LOADS];
    double idle_cpu_s = 0;
    struct bench_place place;
    struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) {
        bench_fail("no memory");
    }
    bench_place_init(&place);
    struct handovers *all = handovers_new(&place, LEASES, RECLAIM_MS);
    int port = crowd_http_port(handovers_crowd(all));
    for (int k = 0; k < BENCH_RUNS; k++) {
        for (int i = 0; i < N_LOADS; i++) {
            *tally = (struct tally){0};
            pid_t child = begin_load(&loads[i], port, tally);
            double start = bench_now(), cpu_s = bench_place_cpu_s(&place);
            handovers_run(all, measured_s);
            bench_add(&rate[i], (double)tally->answers / (bench_now() - start));
            cpu_s = bench_place_cpu_s(&place) - cpu_s;
            idle_cpu_s = child > 0 ? idle_cpu_s : cpu_s;
            if (child > 0 && tally->answers > 0) {
                bench_add(&cpu[i], (cpu_s - idle_cpu_s) * 1e3 / (double)tally->answers);
            }
            end_load(child);
            if (loads[i].path != NULL && loads[i].path[0] != '\0') {
                bench_add(&rest[i], at_rest_ms(&place, &loads[i], port));
            }
            bench_add(&median[i], handovers_took_ms(all, 0.5));
            bench_add(&late[i], handovers_took_ms(all, 0.99));
        }
    }
    char name[96];
    bench_print_head("HTTP: 1,000 leases, 100 hand-overs a second");
    for (int i = 0; i < N_LOADS; i++) {
        snprintf(name, sizeof(name), "hand-over, median: %s", loads[i].name);
        bench_print_row(name, "ms", &median[i], "");
        snprintf(name, sizeof(name), "hand-over, 99 of 100: %s", loads[i].name);
        bench_print_row(name, "ms", &late[i], "");
        if (loads[i].path != NULL) {
            snprintf(name, sizeof(name), "%s: %s",
                     loads[i].path[0] != '\0' ? "answers" : "pieces", loads[i].name);
            bench_print_row(name, "/s", &rate[i], "");
            snprintf(name, sizeof(name), "processor time of one: %s", loads[i].name);
            bench_print_row(name, "ms", &cpu[i], "");
        }
        if (loads[i].path != NULL && loads[i].path[0] != '\0') {
            snprintf(name, sizeof(name), "the loop's time of one, at rest: %s",
                     loads[i].name);
            bench_print_row(name, "ms", &rest[i],
                            strcmp(loads[i].path, "/metrics") == 0 ? "0.5" : "");
        }
    }
    handovers_free(all);
    bench_place_release(&place);
    return 0;
}
