/* SPDX-License-Identifier: Apache-2.0 */
/* output_report.c: see output_report.h. */
#include "host/guard/output_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME_SHOWN_MAX = 512, TIME_SIZE = 64, MS = 1000, KIB_IN_MB = 1024 };

#define RULE "------------------------------------------------------------\n"

/* A variable of the job; "": it is not set. */
static const char *variable(const struct output_report *report, const char *name)
{
    size_t length = strlen(name);
    for (const char **at = report->spec->env; *at != NULL; at++) {
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') {
            return *at + length + 1;
        }
    }
    return "";
}

static const char *time_text(char text[TIME_SIZE], int64_t ms)
{
    time_t seconds = (time_t)(ms / MS);
    struct tm parts;
    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(text, TIME_SIZE, "%a %b %e %H:%M:%S %Y", &parts) == 0) {
        snprintf(text, TIME_SIZE, "-");
    }
    return text;
}

/* The name of the job, or its command, in one line. */
static void put_name(FILE *to, const struct output_report *report)
{
    const char *name = variable(report, "LSB_JOBNAME");
    const char *text = name[0] != '\0' ? name : report->spec->command;
    fputc('<', to);
    for (int i = 0; i < NAME_SHOWN_MAX && text[i] != '\0'; i++) {
        fputc(text[i] == '\n' ? ';' : text[i], to);
    }
    fputc('>', to);
}

/* "north" of "north.12" */
static void put_cluster(FILE *to, const struct output_report *report)
{
    const char *run = report->spec->run, *dot = strrchr(run, '.');
    fprintf(to, "in cluster <%.*s>", (int)(dot != NULL ? dot - run : 0), run);
}

/* "n1 2 n2 1" as <2*n1>, and below it <1*n2>; a single slot is <n1>. */
static void put_hosts(FILE *to, const struct output_report *report, const char *rest)
{
    static const char indent[] = "                            ";
    const char *at = variable(report, "LSB_MCPU_HOSTS");
    bool is_parallel = strcmp(variable(report, "LSB_DJOB_NUMPROC"), "1") != 0;
    for (bool is_first = true; is_first || *at != '\0'; is_first = false) {
        int host = (int)strcspn(at, " ");
        const char *number = at + host + (at[host] == ' ');
        int digits = (int)strcspn(number, " ");
        fprintf(to, "%s<%.*s%s%.*s>%s\n", is_first ? "" : indent,
                is_parallel ? digits : 0, number, is_parallel ? "*" : "", host, at,
                is_first ? rest : "");
        at = number + digits;
        at += strspn(at, " ");
    }
}

static void put_submission(FILE *to, const struct output_report *report)
{
    char text[TIME_SIZE];
    fputs("Job ", to);
    put_name(to, report);
    fprintf(to, " was submitted from host <%s> by user <%s> ",
            variable(report, "LSB_SUB_HOST"), report->spec->user);
    put_cluster(to, report);
    fprintf(to, " at %s\n", time_text(text, report->spec->report_ms));
}

static void put_execution(FILE *to, const struct output_report *report)
{
    const struct run_spec *spec = report->spec;
    char text[TIME_SIZE], *rest = NULL;
    size_t length;
    FILE *line = open_memstream(&rest, &length);
    if (line == NULL) {
        abort();
    }
    fprintf(line, ", in queue <%s>, as user <%s> ", variable(report, "LSB_QUEUE"),
            spec->account[0] != '\0' ? spec->account : variable(report, "USER"));
    put_cluster(line, report);
    fprintf(line, " at %s", time_text(text, report->start_ms));
    if (fclose(line) != 0) {
        abort();
    }
    fputs("Job was executed on host(s) ", to);
    put_hosts(to, report, rest);
    free(rest);
    fprintf(to, "<%s> was used as the home directory.\n", variable(report, "HOME"));
    if (spec->cwd[0] != '\0') {
        fprintf(to, "<%s> was used as the working directory.\n", spec->cwd);
    }
    fprintf(to, "Started at %s\n", time_text(text, report->start_ms));
    fprintf(to, "Terminated at %s\n", time_text(text, report->end_ms));
    fprintf(to, "Results reported at %s\n\n", text);
}

static const char *limit_text(enum run_cause cause)
{
    switch (cause) {
    case RUN_CAUSE_RUN_LIMIT:
        return "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\n";
    case RUN_CAUSE_CPU_LIMIT:
        return "TERM_CPULIMIT: job killed after reaching LSF CPU usage limit.\n";
    case RUN_CAUSE_MEM_LIMIT:
        return "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n";
    case RUN_CAUSE_SWAP_LIMIT:
        return "TERM_SWAP: job killed after reaching LSF swap usage limit.\n";
    case RUN_CAUSE_PROCESS_LIMIT:
        return "TERM_PROCESSLIMIT: job killed after reaching LSF process limit.\n";
    case RUN_CAUSE_THREAD_LIMIT:
        return "TERM_THREADLIMIT: job killed after reaching LSF thread limit.\n";
    case RUN_CAUSE_NONE:
    case RUN_CAUSE_PRE_EXEC:
    case RUN_CAUSE_NOT_BEGUN:
        break;
    }
    return "";
}

static bool is_done(const struct output_report *report)
{
    return report->stages->end == RUN_END_EXITED && report->stages->code == 0;
}

static void put_result(FILE *to, const struct output_report *report)
{
    const struct stages *stages = report->stages;
    fputs(limit_text(stages->cause), to);
    if (is_done(report)) {
        fputs("Successfully completed.\n\n", to);
    } else if (stages->end == RUN_END_SIGNALLED) {
        fprintf(to, "Exited by signal %d.\n\n", stages->code);
    } else if (stages->end == RUN_END_FAILED) {
        fprintf(to, "The command could not be started: %s.\n\n", stages->text);
    } else {
        fprintf(to, "Exited with exit code %d.\n\n", stages->code);
    }
}

static void put_value(FILE *to, const char *name, const char *value, const char *unit)
{
    enum { VALUES_AT = 45 };
    fprintf(to, "    %-*s%s%s\n", VALUES_AT, name, value, unit);
}

static void put_usage(FILE *to, const struct output_report *report)
{
    static const char *const unknown_memory[] = {
        "Average Memory :", "Total Requested Memory :", "Delta Memory :",
        "Max Swap :",       "Max Processes :",          "Max Threads :"};
    char text[TIME_SIZE];
    fputs("Resource usage summary:\n\n", to);
    snprintf(text, sizeof(text), "%.2f", (double)report->cpu_ms / MS);
    put_value(to, "CPU time :", text, " sec.");
    snprintf(text, sizeof(text), "%lld", (long long)(report->mem_kib / KIB_IN_MB));
    put_value(to, "Max Memory :", text, " MB");
    for (size_t i = 0; i < sizeof(unknown_memory) / sizeof(unknown_memory[0]); i++) {
        put_value(to, unknown_memory[i], "-", "");
    }
    snprintf(text, sizeof(text), "%lld",
             (long long)(report->end_ms - report->start_ms) / MS);
    put_value(to, "Run time :", text, " sec.");
    snprintf(text, sizeof(text), "%lld",
             (long long)(report->end_ms - report->spec->report_ms) / MS);
    put_value(to, "Turnaround time :", text, " sec.");
}

char *output_report_text(const struct output_report *report)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    const char *host = variable(report, "LSB_HOSTS");
    if (to == NULL) {
        abort();
    }
    fprintf(to, "\n" RULE "Sender: LSF System <sublet@%.*s>\n", (int)strcspn(host, " "),
            host);
    fprintf(to, "Subject: Job %s: ", variable(report, "LSB_BATCH_JID"));
    put_name(to, report);
    fputc(' ', to);
    put_cluster(to, report);
    fprintf(to, " %s\n\n", is_done(report) ? "Done" : "Exited");
    put_submission(to, report);
    put_execution(to, report);
    fprintf(to,
            "Your job looked like:\n\n" RULE "# LSBATCH: User input\n%s\n" RULE "\n",
            report->spec->command);
    put_result(to, report);
    put_usage(to, report);
    fputs("\nThe output (if any) is above this job summary.\n\n", to);
    if (report->spec->err_file[0] != '\0') {
        fprintf(to, "\nPS:\n\nRead file <%s> for stderr output of this job.\n\n",
                report->spec->err_file);
    }
    if (fclose(to) != 0) {
        abort(); /* out of memory */
    }
    return text;
}
