/* SPDX-License-Identifier: Apache-2.0 */
/* play_stage.c: see play_stage.h. */
#include "tests/unit/sim/play_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *path, *text;
} files[] = {
    {"north.conf", "Begin Site\nNAME = north\nEnd Site\n"
                   "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 4\nEnd Host\n"
                   "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
                   "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\nEnd Queue\n"
                   "Begin HostExport\nNAME = spare\nPER_HOST = n1 n2\nSLOTS = 4\n"
                   "TYPE = shared\nDISTRIBUTION = ([south, 1])\nEnd HostExport\n"},
    {"south.conf", "Begin Site\nNAME = south\nEnd Site\n"
                   "Begin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"
                   "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\n"
                   "HOSTS = all allremote\nEnd Queue\n"},
    {"later.conf", "Begin Site\nNAME = south\nEnd Site\n"
                   "Begin Host\nHOST_NAME MXJ\ns1 1\ns2 3\nEnd Host\n"
                   "Begin Queue\nQUEUE_NAME = late\nHOSTS = all\nEnd Queue\n"},
    {"alone.conf", "Begin Site\nNAME = alone\nEnd Site\n"
                   "Begin Host\nHOST_NAME MXJ\nn1 4\nn2 4\nEnd Host\n"
                   "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
                   "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\nEnd Queue\n"},
    {"preempt.conf", "Begin Site\nNAME = alone\nEnd Site\n"
                     "Begin Host\nHOST_NAME MXJ\nn1 8\nEnd Host\n"
                     "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"
                     "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\n"
                     "PREEMPTION = PREEMPTIVE\nEnd Queue\n"},
    {"around.conf", "Begin Site\nNAME = around\nEnd Site\n"
                    "Begin Host\nHOST_NAME MXJ\nn1 1\nEnd Host\n"
                    "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\n"
                    "PRE_EXEC = /bin/in\nPOST_EXEC = /bin/out\n"
                    "JOB_CONTROLS = SUSPEND[/bin/save]\nEnd Queue\n"
                    "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\n"
                    "PREEMPTION = PREEMPTIVE\nEnd Queue\n"},
    {"other.conf", "Begin Site\nNAME = elsewhere\nEnd Site\n"
                   "Begin Host\nHOST_NAME MXJ\no1 2\nEnd Host\n"
                   "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"},
    {"wrong.conf", "Begin Site\nNAME = north\nEnd Site\n"
                   "Begin Host\nHOST_NAME MXJ\nn1 many\nEnd Host\n"
                   "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"},
    {"broker.conf", "Begin Broker\nLOST_AFTER = 20s\nEnd Broker\n"
                    "Begin Member\nNAME ROLES\nnorth (provider)\nsouth (consumer)\n"
                    "End Member\n"},
    {"lonely.conf", "Begin Broker\nEnd Broker\n"
                    "Begin Member\nNAME ROLES\nnorth (provider)\nEnd Member\n"},
    {"two.swf", "; two jobs\n1 100 0 60 2 -1 -1 2 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n"
                "2 160 0 30 1 -1 -1 1 -1 -1 1 8 -1 -1 -1 -1 -1 -1\n"},
    {"queues.conf", "Begin Site\nNAME = north\nEnd Site\n"
                    "Begin Host\nHOST_NAME MXJ\nn1 4\nEnd Host\n"
                    "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"
                    "Begin Queue\nQUEUE_NAME = q1\nEnd Queue\n"},
    {"queues.swf", "1 0 0 60 1 -1 -1 1 -1 -1 1 7 -1 -1 1 -1 -1 -1\n"
                   "2 0 0 60 1 -1 -1 1 -1 -1 1 7 -1 -1 2 -1 -1 -1\n"
                   "3 0 0 60 1 -1 -1 1 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n"},
    {"bad.swf", "1 100 0 60\n"},
};

static int read_file(void *arg, const char *path, const char **text, size_t *length,
                     struct err *err)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!strcmp(files[i].path, path)) {
            *text = files[i].text;
            *length = strlen(files[i].text);
            return 0;
        }
    }
    return err_set(err, ERR_IO, "%s: no such file", path);
}

void play_stage_read(struct play_stage *stage, const char *text)
{
    struct scenario_files from = {.read = read_file};

    memset(stage, 0, sizeof *stage);
    arena_init(&stage->arena);
    stage->scenario = scenario_read("test.scn", text, strlen(text), &from);
}

const char *play_stage_complaints(struct play_stage *stage)
{
    const char *text = "";

    for (const struct conf_diag *diag = stage->scenario->conf.diags; diag;
         diag = diag->next) {
        text = arena_printf(&stage->arena, "%s%s:%d: %s\n", text, diag->file,
                            diag->line, diag->text);
    }
    return text;
}

static const char *member(const struct value *event, const char *key)
{
    const struct value *found = value_find(event, key);

    return found && found->kind == VALUE_TEXT ? found->text : "-";
}

static void on_event(void *arg, const struct value *event)
{
    struct play_stage *stage = arg;
    const struct value *t = value_find(event, "t");
    const char *where = member(event, "site");
    char line[512];
    int n = snprintf(line, sizeof line, "%g %s %s %s %s\n",
                     t->kind == VALUE_INT ? (double)t->number : t->real,
                     member(event, "event"),
                     strcmp(where, "-") ? where : member(event, "lease"),
                     member(event, "job"), member(event, "reason"));

    assert_in_range(n, 1, sizeof line - 1);
    stage->events = mem_grow(stage->events, stage->n_bytes + (size_t)n + 1, 1);
    memcpy(stage->events + stage->n_bytes, line, (size_t)n + 1);
    stage->n_bytes += (size_t)n;
}

void play_stage_play(struct play_stage *stage, uint64_t seed, const char *text)
{
    struct play_options options = {.seed = seed, .on_event = on_event, .arg = stage};

    play_stage_read(stage, text);
    assert_string_equal(play_stage_complaints(stage), "");
    stage->play = play_new(stage->scenario, &options);
    stage->end = play_run(stage->play);
}

const char *play_stage_remarks(struct play_stage *stage)
{
    const char *text = "";

    for (const struct play_remark *at = play_remarks(stage->play); at; at = at->next) {
        text = arena_printf(&stage->arena, "%s%d: %s\n", text, at->line, at->text);
    }
    return text;
}

int play_stage_count(const struct play_stage *stage, const char *part)
{
    int count = 0;

    for (const char *at = stage->events; at && (at = strstr(at, part)); at++) {
        count++;
    }
    return count;
}

void play_stage_close(struct play_stage *stage)
{
    play_free(stage->play);
    scenario_free(stage->scenario);
    arena_release(&stage->arena);
    free(stage->events);
    *stage = (struct play_stage){0};
}
