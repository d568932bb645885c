/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_plot.c: plots slots over time, one panel per site. Used slots are an area,
 * lent and borrowed slots are lines. Each pixel shows the mean of its time. */
#include <errno.h>
#include <string.h>

#include "cli/simulate/simulate.h"

enum {
    WIDTH = 960,
    LEFT = 56,
    RIGHT = 24,
    TOP = 56,
    PANEL = 150,
    GAP = 46,
    STEPS = WIDTH - LEFT - RIGHT, /* one pixel each */
};

#define AREA_OPACITY "0.35"

enum which { USED, LENT, BORROWED, N_WHICH };

static const struct {
    const char *name, *colour;
} series[N_WHICH] = {{"used", "#2f6f9f"}, {"lent", "#c05a1a"}, {"borrowed", "#3f8f4f"}};

static int level_of(const struct summary_level *level, enum which which)
{
    return which == USED   ? level->n_used
           : which == LENT ? level->n_lent
                           : level->n_borrowed;
}

/* Computes the mean levels of each step of time. */
static void average(const struct simulate_curve *curve, int64_t until_ms,
                    enum which which, double *means)
{
    double step_ms = (double)until_ms / STEPS;
    int at = 0;
    for (int i = 0; i < STEPS; i++) {
        double from = i * step_ms, to = from + step_ms, sum = 0;
        while (at > 0 && (double)curve->samples[at].at_ms > from) {
            at--;
        }
        while (at + 1 < curve->count && (double)curve->samples[at + 1].at_ms <= from) {
            at++;
        }
        for (int k = at; k < curve->count && (double)curve->samples[k].at_ms < to;
             k++) {
            double begin = (double)curve->samples[k].at_ms;
            double end =
                k + 1 < curve->count ? (double)curve->samples[k + 1].at_ms : to;
            begin = begin > from ? begin : from;
            end = end < to ? end : to;
            sum += (end - begin) * level_of(&curve->samples[k].level, which);
        }
        means[i] = step_ms > 0 ? sum / step_ms : 0;
    }
}

static bool has_any(const struct simulate_curve *curve, enum which which)
{
    for (int i = 0; i < curve->count; i++) {
        if (level_of(&curve->samples[i].level, which) > 0) {
            return true;
        }
    }
    return false;
}

static int highest(const struct simulate_curve *curve)
{
    int most = 1;
    for (int i = 0; i < curve->count; i++) {
        const struct summary_level *level = &curve->samples[i].level;
        const int levels[] = {level->n_slots, level->n_used, level->n_lent,
                              level->n_borrowed};
        for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
            most = levels[k] > most ? levels[k] : most;
        }
    }
    return most;
}

/* Draws steps, without points at which the level does not change. */
static void draw_line(FILE *file, const double *means, int most, int base, bool is_area,
                      const char *colour)
{
    double shown = -1;
    fprintf(file, "<path d=\"M%d %d", LEFT, base);
    for (int i = 0; i < STEPS; i++) {
        if (means[i] != shown) {
            shown = means[i];
            fprintf(file, "H%dV%.1f", LEFT + i, base - shown * PANEL / most);
        }
    }
    fprintf(file, "H%d", LEFT + STEPS);
    if (is_area) {
        fprintf(file, "V%dZ\" fill=\"%s\" fill-opacity=\"%s\"/>\n", base, colour,
                AREA_OPACITY);
    } else {
        fprintf(file, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
                colour);
    }
}

static void draw_axis(FILE *file, const char *site, int most, int n_slots, int base)
{
    double slots_y = base - (double)n_slots * PANEL / most;
    fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"h\">%s</text>\n", LEFT,
            base - PANEL - 8, site);
    fprintf(file, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT,
            base - PANEL, base, LEFT + STEPS);
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d</text>\n", LEFT - 6,
            base - PANEL + 10, most);
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n", LEFT - 6,
            base);
    fprintf(file,
            "<path d=\"M%d %.1fH%d\" stroke=\"#888\" stroke-dasharray=\"3 4\">"
            "<title>%d own slots</title></path>\n",
            LEFT, slots_y, LEFT + STEPS, n_slots);
}

static void draw_panel(FILE *file, const struct simulate_run *run, int site, int base)
{
    const struct simulate_curve *curve = &run->curves[site];
    double means[STEPS];
    int most = highest(curve);
    int n_slots = curve->count > 0 ? curve->samples[curve->count - 1].level.n_slots : 0;
    draw_axis(file, run->scenario->sites[site].name, most, n_slots, base);
    for (int i = 0; i < N_WHICH; i++) {
        if (i != USED && !has_any(curve, (enum which)i)) {
            continue; /* omit lines that are always 0 */
        }
        average(curve, run->scenario->until_ms, (enum which)i, means);
        draw_line(file, means, most, base, i == USED, series[i].colour);
    }
}

/* "6h", "89d": with at most one decimal. */
static void draw_times(FILE *file, int64_t until_ms, int base)
{
    double hours = (double)until_ms / 3600000;
    bool is_days = hours > 72, is_minutes = hours < 2;
    for (int i = 0; i <= 4; i++) {
        double at = hours * i / 4;
        at = is_days ? at / 24 : is_minutes ? at * 60 : at;
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.4g%s</text>\n",
                LEFT + STEPS * i / 4, base + 16, at,
                is_days      ? "d"
                : is_minutes ? "m"
                             : "h");
    }
}

static void draw_legend(FILE *file)
{
    for (int i = 0; i < N_WHICH; i++) {
        fprintf(file,
                "<rect x=\"%d\" y=\"12\" width=\"12\" height=\"12\" fill=\"%s\" "
                "fill-opacity=\"%s\"/>"
                "<text x=\"%d\" y=\"22\">slots %s</text>\n",
                LEFT + 130 * i, series[i].colour, i == USED ? AREA_OPACITY : "1",
                LEFT + 130 * i + 18, series[i].name);
    }
}

int simulate_plot(const struct simulate_run *run, const char *path, struct err *err)
{
    int n_sites = run->scenario->n_sites;
    int height = TOP + n_sites * (PANEL + GAP);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    }
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
            "<style>.h{font-size:14px;font-weight:bold}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height);
    draw_legend(file);
    for (int i = 0; i < n_sites; i++) {
        int base = TOP + PANEL + i * (PANEL + GAP);
        draw_panel(file, run, i, base);
        draw_times(file, run->scenario->until_ms, base);
    }
    fputs("</svg>\n", file);
    bool is_written = !ferror(file);
    if (fclose(file) != 0 || !is_written) {
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    }
    return 0;
}
