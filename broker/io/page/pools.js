// SPDX-License-Identifier: Apache-2.0
// pools.js: pools and the nodes of their plans: who is entitled to what, and has what.
// Nothing is told when a quota changes but for the events of a cycle: they are asked for
// then, and every few seconds while somebody looks.
import { el, formatAge, setChildren } from './format.js';
import { ask, known } from './feed.js';

const EVERY_MS = 5000;
const COLUMNS = [['Node', 'node'], ['Site', 'site'], ['Owns', 'owned'], ['Wants', 'demand'],
  ['Quota', 'quota'], ['Has', 'alloc'], ['Back', 'recalled'], ['Free', 'free'],
  ['Short', 'shortfall']];

const section = document.getElementById('pools-section');
const list = document.getElementById('pools');
let lastEvent = 0;
let askedAt = 0;
let isAsking = false;

function makeCell(row, key) {
  if (key === 'node') {
    const depth = row.node.split('/').length - 2;
    return el('th', { scope: 'row' }, '\u2003'.repeat(depth) + row.node);
  }
  return el('td', { class: key === 'site' ? null : 'number' }, `${row[key] ?? '–'}`);
}

function makeNode(row) {
  const moved = row.moved === null ? '' : `; last moved ${formatAge(row.moved_at)}: ${row.moved}`;
  return el('tr', { title: `${row.why}${moved}`, 'data-node': row.node },
    ...COLUMNS.map(([, key]) => makeCell(row, key)));
}

function makePool(pool, nodes) {
  return el('article', { 'data-pool': pool.pool },
    el('h3', {}, pool.pool, ' ', el('span', { class: 'count' },
      `${pool.slots} slots, ${pool.idle} idle, ${pool.alloc} with nodes, `
      + `${pool.recalled} on their way back`)),
    el('table', { class: 'plan' },
      el('thead', {}, el('tr', {}, ...COLUMNS.map(([name]) => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, ...nodes.map(makeNode))));
}

async function fetchNodes(pool) {
  return (await ask(`/api/v1/plans/${encodeURIComponent(pool)}?limit=200`)).nodes;
}

async function refresh() {
  const { pools } = await ask('/api/v1/pools');
  const nodes = await Promise.all(pools.map((pool) => fetchNodes(pool.pool)));
  section.hidden = pools.length === 0;
  setChildren(list, pools.map((pool, i) => makePool(pool, nodes[i])));
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
