// SPDX-License-Identifier: Apache-2.0
// pools.js: pools and the nodes of their plans: who is entitled to what, and has what,
// now and over time. Nothing is told when a quota changes but for the events of a cycle:
// they are asked for then, and every few seconds while somebody looks.
import { el, formatClock, makeCsvButton, setChildren, setText } from './format.js';
import { ask, known } from './feed.js';
import { read, write } from './address.js';
import { drawChart, dropChart, makeCanvas, rowsOf } from './charts.js';
import { shownTime } from './zoom.js';

const EVERY_MS = 5000;
const COLUMNS = [['Node', 'node'], ['Site', 'site'], ['Owns', 'owned'], ['Wants', 'demand'],
  ['Quota', 'quota'], ['Has', 'alloc'], ['Back', 'recalled'], ['Free', 'free'],
  ['Short', 'shortfall']];
// Only where the plan has HOURS or PRICE.
const HOURS = ['Slot hours', 'hours'];
const PRICE = ['Price', 'price'];

const POOL_LINES = [
  { label: 'with nodes', colour: '--consumer', isArea: true, value: (row) => row.alloc - row.recalled },
  { label: 'on their way back', colour: '--consumer-idle', isArea: true, value: (row) => row.recalled },
  { label: 'idle', colour: '--provider-idle', isArea: true, value: (row) => row.idle },
  { label: 'wanted', colour: '--waiting', value: (row) => row.demand, dash: [5, 3] },
];
const NODE_LINES = [
  { label: 'has', colour: '--consumer', isArea: true, value: (row) => row.alloc - row.recalled },
  { label: 'on its way back', colour: '--consumer-idle', isArea: true, value: (row) => row.recalled },
  { label: 'quota', colour: '--provider', value: (row) => row.quota },
  { label: 'wants', colour: '--waiting', value: (row) => row.demand, dash: [5, 3] },
];

const section = document.getElementById('pools-section');
const list = document.getElementById('pools');
let lastEvent = 0;
let askedAt = 0;
let isAsking = false;
const drawn = new Map(); // pool -> what was built for it

// ---- over time: of the pool, or of the node that the address names (POOL/NODE)

function shownNode(pool) {
  const { node } = read();
  return node.startsWith(`${pool}/`) ? node.slice(pool.length) : '';
}

async function drawOverTime(pool) {
  const node = shownNode(pool);
  const time = shownTime();
  const path = node === '' ? `pools/${encodeURIComponent(pool)}?`
    : `plans/${encodeURIComponent(pool)}?node=${encodeURIComponent(node)}&`;
  let rows = [];
  try {
    rows = (await ask(`/api/v1/series/${path}span_s=${time.span}`)).series;
  } catch (error) {
    if (error.status !== 404) {
      return; // gone: what was drawn stays
    }
  }
  const parts = drawn.get(pool);
  if (parts !== undefined && shownNode(pool) === node) {
    parts.loadedAt = Date.now();
    setText(parts.caption, `${node || `all of ${pool}`} over time`
      + (rows.length === 0 ? ': nothing sampled yet' : ''));
    drawChart(parts.canvas, node === '' ? POOL_LINES : NODE_LINES, rows, time, true);
  }
}

// ---- the tree

function makeName(pool, row) {
  const depth = row.node.split('/').length - 2;
  const isShown = shownNode(pool) === row.node;
  return el('th', { scope: 'row' }, '\u2003'.repeat(depth), el('button', {
    type: 'button', 'aria-pressed': `${isShown}`,
    onclick: () => write({ node: isShown ? '' : pool + row.node }) }, row.node));
}

function columnsOf(rows) {
  return [...COLUMNS, ...(rows.some((row) => row.hours !== null) ? [HOURS] : []),
    ...(rows.some((row) => row.price > 0) ? [PRICE] : [])];
}

const LEVELS = { free: '', low: ', 80 % or more', spent: ', all used' };

function hoursText(row) {
  return row.hours === null ? `${row.hours_used ?? '–'}`
    : `${row.hours_used} of ${row.hours}${LEVELS[row.hours_level]}`;
}

function makeCell(pool, row, key) {
  return key === 'node' ? makeName(pool, row)
    : key === 'hours' ? el('td', { class: `number ${row.hours_level ?? ''}` }, hoursText(row))
    : el('td', { class: key === 'site' ? null : 'number' }, `${row[key] ?? '–'}`);
}

function makeNode(pool, row, columns) {
  const moved = row.moved === null ? '' : `; last moved ${formatClock(row.moved_at)}: ${row.moved}`;
  return el('tr', { 'data-tip': `${row.why}${moved}`, 'data-node': row.node },
    ...columns.map(([, key]) => makeCell(pool, row, key)));
}

function build(pool) {
  const parts = { count: el('span', { class: 'count' }), body: el('tbody'),
    head: el('tr'), caption: el('figcaption'), canvas: makeCanvas(), rows: [], text: '', loadedAt: 0 };
  parts.article = el('article', { 'data-pool': pool },
    el('h3', {}, pool, ' ', parts.count, ' ',
      makeCsvButton(`the nodes of ${pool}`, `pool-${pool}.csv`, () => parts.rows)),
    el('div', { class: 'wide' }, el('table', { class: 'plan' },
      el('thead', {}, parts.head),
      parts.body)),
    el('figure', {}, parts.caption, makeCsvButton(`the chart of ${pool}`, `chart-${pool}.csv`,
      () => rowsOf(parts.canvas)), el('div', { class: 'canvas' }, parts.canvas)));
  return parts;
}

// Who has the focus in the tree keeps it: rows are only made anew where they differ.
function drawNodes(pool, parts) {
  const text = JSON.stringify([parts.rows, shownNode(pool)]);
  if (text === parts.text) {
    return;
  }
  parts.text = text;
  const focused = document.activeElement.closest?.('tr')?.dataset.node;
  const isInside = parts.body.contains(document.activeElement);
  const columns = columnsOf(parts.rows);
  setChildren(parts.head, columns.map(([name]) => el('th', { scope: 'col' }, name)));
  setChildren(parts.body, parts.rows.map((row) => makeNode(pool, row, columns)));
  if (isInside) {
    parts.body.querySelector(`[data-node="${CSS.escape(focused)}"] button`)?.focus();
  }
}

function drawPool(pool, nodes) {
  if (!drawn.has(pool.pool)) {
    drawn.set(pool.pool, build(pool.pool));
  }
  const parts = drawn.get(pool.pool);
  setText(parts.count, `${pool.slots} slots, ${pool.idle} idle, ${pool.alloc} with nodes, `
    + `${pool.recalled} on their way back`);
  parts.rows = nodes;
  drawNodes(pool.pool, parts);
  return parts.article;
}

async function fetchNodes(pool) {
  return (await ask(`/api/v1/plans/${encodeURIComponent(pool)}?limit=200`)).nodes;
}

function dropPools(pools) {
  for (const [pool, parts] of drawn) {
    if (!pools.some((one) => one.pool === pool)) {
      dropChart(parts.canvas);
      drawn.delete(pool);
    }
  }
}

async function refresh() {
  const { pools } = await ask('/api/v1/pools');
  const nodes = await Promise.all(pools.map((pool) => fetchNodes(pool.pool)));
  section.hidden = pools.length === 0;
  dropPools(pools);
  setChildren(list, pools.map((pool, i) => drawPool(pool, nodes[i])));
  const every = Math.max(EVERY_MS, 1000 * (known.about?.sample_interval_s ?? 60));
  await Promise.all([...drawn].filter(([, parts]) => Date.now() - parts.loadedAt >= every)
    .map(([pool]) => drawOverTime(pool)));
}

export function drawPoolCharts() {
  [...drawn.keys()].forEach(drawOverTime);
}

// The address names another node, or another time.
export function movePools() {
  for (const [pool, parts] of drawn) {
    drawNodes(pool, parts);
  }
  drawPoolCharts();
}

// True where a cycle has said something since.
function isNews() {
  const latest = known.events.find((event) => event.pool !== undefined)?.id ?? 0;
  const was = lastEvent;
  lastEvent = latest;
  return latest > was;
}

export function drawPools() {
  const isDue = isNews() || Date.now() - askedAt > EVERY_MS;
  if (!known.isLive || isAsking || !isDue || document.hidden) {
    return;
  }
  isAsking = true;
  askedAt = Date.now();
  refresh().catch(() => {}).finally(() => {
    isAsking = false;
  });
}
