// SPDX-License-Identifier: Apache-2.0
// charts.js: series over time, drawn by Chart.js: the broker's samples, a line with a
// gap where there are none.
/* global Chart */
import { el, saveObjects, setText } from './format.js';
import { ask, known } from './feed.js';
import { read, write } from './address.js';
import { isZoomed, makeZoomable, shownTime, spanOf } from './zoom.js';

const REFRESH_MIN_S = 5;
const GAP = 2.5; // samples that may be missing before a line has a gap
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const two = (number) => String(number).padStart(2, '0');
function formatTick(at, span) {
  const date = new Date(at);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (span > 86400) {
    return `${date.getDate()} ${date.toLocaleString(undefined, { month: 'short' })} ${clock}`;
  }
  return span <= 600 ? `${clock}:${two(date.getSeconds())}` : clock;
}

// Points with a null between those that are too far apart.
function pointsOf(rows, value, every) {
  const points = [];
  let last = null;
  for (const row of rows) {
    const at = Date.parse(row.at);
    if (last !== null && at - last > every * 1000 * GAP) {
      points.push({ x: last + 1, y: null });
    }
    points.push({ x: at, y: value(row) });
    last = at;
  }
  return points;
}

// The usual distance between two samples, which may be thinned.
function spacingOf(rows) {
  if (rows.length < 2) {
    return known.about?.sample_interval_s ?? 60;
  }
  const steps = rows.slice(1).map((row, i) => Date.parse(row.at) - Date.parse(rows[i].at));
  return steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] / 1000;
}

function datasetOf(line, rows, every) {
  const colour = style(line.colour);
  return {
    label: line.label, data: pointsOf(rows, line.value, every), stepped: true,
    borderColor: colour, backgroundColor: line.isArea ? colour : 'transparent',
    borderWidth: line.isArea ? 0 : 2, pointRadius: rows.length < 3 ? 2 : 0, fill: line.isArea ?? false,
    stack: line.isArea ? 'all' : line.label, borderDash: line.dash ?? [], spanGaps: false,
  };
}

function optionsOf({ from, until }) {
  const axis = { color: style('--soft'), font: { size: 11 } };
  const grid = { color: style('--line') };
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    scales: {
      x: { type: 'linear', min: from, max: until, grid,
        ticks: { ...axis, count: 7, maxRotation: 0, callback: (at) => formatTick(at, (until - from) / 1000) } },
      y: { beginAtZero: true, stacked: true, grid, ticks: { ...axis, precision: 0, maxTicksLimit: 6 } },
    },
    plugins: {
      legend: { position: 'bottom', labels: { color: style('--soft'), boxWidth: 12, font: { size: 11 } } },
      tooltip: { callbacks: { title: (items) => new Date(items[0].parsed.x).toLocaleString() } },
    },
  };
}

const NOTHING_YET = 'nothing sampled yet';

// A canvas for drawChart(): whoever cannot see it is told what it shows, also before.
export function makeCanvas() {
  return el('canvas', { role: 'img', 'aria-label': NOTHING_YET });
}

// Draws rows into a canvas, over all of the time ({from, until}); the same chart is used
// again. `canZoom`: the part of the time that the address has can be chosen there.
const charts = new Map();
const drawnRows = new Map(); // by canvas: the samples that it shows
export const rowsOf = (canvas) => drawnRows.get(canvas) ?? [];
export function drawChart(canvas, lines, rows, time, canZoom = false) {
  const every = spacingOf(rows);
  drawnRows.set(canvas, rows);
  const datasets = lines.map((line) => datasetOf(line, rows, every));
  let chart = charts.get(canvas);
  if (chart === undefined) {
    chart = new Chart(canvas, { type: 'line', data: { datasets }, options: optionsOf(time) });
    charts.set(canvas, chart);
    if (canZoom) {
      makeZoomable(canvas, () => charts.get(canvas));
    }
  } else {
    chart.data.datasets.length = 0;
    chart.data.datasets.push(...datasets);
    chart.options = optionsOf(time);
    chart.update('none');
  }
  const last = rows[rows.length - 1];
  canvas.setAttribute('aria-label', last === undefined ? NOTHING_YET
    : `Now: ${lines.map((line) => `${line.label} ${line.value(last)}`).join(', ')}`);
}

export function dropChart(canvas) {
  charts.get(canvas)?.destroy();
  charts.delete(canvas);
  drawnRows.delete(canvas);
}

// ---- the charts of the page

const SLOTS = [
  { label: 'own, used', colour: '--provider', isArea: true, value: (row) => row.used },
  { label: 'lent, used', colour: '--consumer', isArea: true, value: (row) => row.lent_used ?? row.lent },
  { label: 'lent, idle', colour: '--consumer-idle', isArea: true,
    value: (row) => (row.lent_used === null ? 0 : row.lent - row.lent_used) },
  { label: 'own, idle', colour: '--provider-idle', isArea: true,
    value: (row) => Math.max(0, row.own - row.used - row.lent) },
];
const MOVES = [
  { label: 'lent', colour: '--consumer', value: (row) => row.lent },
  { label: 'borrowed', colour: '--borrowed', value: (row) => row.borrowed, dash: [5, 3] },
  { label: 'pending', colour: '--waiting', value: (row) => row.pending },
];

const select = document.getElementById('chart-site');
const spans = document.getElementById('chart-span');
const nothing = document.getElementById('no-series');
const zoomOut = document.getElementById('zoom-out');
let loadedAt = 0;

export async function drawCharts() {
  const view = read();
  const time = shownTime(view);
  const path = view.site ? `/api/v1/series/sites/${encodeURIComponent(view.site)}` : '/api/v1/series';
  loadedAt = Date.now();
  let rows = [];
  try {
    rows = (await ask(`${path}?span_s=${time.span}`)).series;
  } catch (error) {
    if (error.status !== 404) {
      return; // gone: what was drawn stays
    }
  }
  nothing.hidden = rows.length > 0;
  setText(nothing, 'Nothing sampled yet: the first sample comes within ' +
    `${known.about?.sample_interval_s ?? 60} seconds.`);
  drawChart(document.getElementById('chart-slots'), SLOTS, rows, time, true);
  drawChart(document.getElementById('chart-moves'), MOVES, rows, time, true);
}

// In each interval of the broker's there is something new.
export function refreshCharts() {
  const every = Math.max(REFRESH_MIN_S, known.about?.sample_interval_s ?? 60);
  if (known.isLive && !document.hidden && Date.now() - loadedAt > every * 1000) {
    drawCharts();
  }
}

// The address names another site or another time.
let moved = '';
export function moveCharts(view) {
  const key = `${view.site} ${view.span} ${view.zoom}`;
  if (key !== moved) {
    moved = key;
    drawCharts();
  }
}

export function drawChartChoice(view = read()) {
  const names = [...known.sites.keys()].sort();
  if (view.site && !names.includes(view.site)) {
    names.push(view.site);
  }
  if ([...select.options].map((option) => option.value).join('\n') !== ['', ...names].join('\n')) {
    select.replaceChildren(...['', ...names].map((name) => el('option', { value: name }, name || 'all sites')));
  }
  select.value = view.site;
  spans.value = String(spanOf(view));
  zoomOut.hidden = !isZoomed(view);
}

select.addEventListener('change', () => {
  write({ site: select.value });
});
zoomOut.addEventListener('click', () => {
  write({ zoom: '' });
  document.getElementById('chart-slots').focus();
});
spans.addEventListener('change', () => {
  write({ span: spans.value === '3600' ? '' : spans.value, zoom: '' });
});
document.getElementById('chart-csv').addEventListener('click', () => saveObjects(
  `chart-${read().site || 'all'}.csv`, rowsOf(document.getElementById('chart-slots'))));
