// SPDX-License-Identifier: Apache-2.0
// lease.js: one lease: its hosts, its splits over time, what happened to it and why.
import { el, fillBar, formatAge, formatClock, formatCountdown, formatDelay, leasePath, makeCsvButton, setChildren, setClass, setText } from './format.js';
import { ask, askLast, known } from './feed.js';
import { badgeOf, describe, partsOf } from './leases.js';
import { wordOf } from './log.js';
import { read, write } from './address.js';
import { drawChart, dropChart, makeCanvas, rowsOf } from './charts.js';
import { timeOf } from './zoom.js';
import { askDelay, askDrain, askRebalance, askResume } from './admin.js';

const HISTORY = 60;
const SPAN_S = 86400;
const REFRESH_MS = 5000;
const dialog = document.getElementById('lease');
const body = document.getElementById('lease-body');
let shown = null; // the id, and what was built for it
let built = null;
let historyAt = '';
let seriesAt = 0;

const LINES = [
  { label: 'provider, used', colour: '--provider', isArea: true, value: (row) => row.provider.used },
  { label: 'provider, idle', colour: '--provider-idle', isArea: true,
    value: (row) => row.provider.available - row.provider.used },
  { label: 'consumer, idle', colour: '--consumer-idle', isArea: true,
    value: (row) => row.consumer.available - row.consumer.used },
  { label: 'consumer, used', colour: '--consumer', isArea: true, value: (row) => row.consumer.used },
];

function fact(name, value) {
  return [el('dt', {}, name), value];
}

function build(id) {
  const parts = Object.fromEntries(['state', 'sides', 'age', 'why', 'next', 'delay', 'hours', 'price', 'epoch', 'made']
    .map((name) => [name, el('dd')]));
  parts.badge = el('span');
  parts.state.append(parts.badge);
  parts.bar = el('div', { class: 'bar' });
  parts.hosts = el('tbody');
  parts.timeline = el('ol', { class: 'timeline' });
  parts.canvas = makeCanvas();
  parts.rebalance = el('button', { type: 'button', onclick: () => askRebalance(known.leases.get(id)) }, 'Rebalance …');
  parts.drain = el('button', { type: 'button', onclick: () => (known.leases.get(id).drained ? askResume : askDrain)(known.leases.get(id)) }, 'Drain …');
  parts.delayButton = el('button', { type: 'button', onclick: () => askDelay(known.leases.get(id)) },
    'Set reclaim delay …');
  parts.hint = el('p', { class: 'sub' });
  setChildren(body, [
    el('dl', { class: 'facts' }, ...fact('State', parts.state), ...fact('Slots', parts.sides),
      ...fact('Last change', parts.age), ...fact('Reason', parts.why),
      ...fact('Next rebalance', parts.next), ...fact('Reclaim delay', parts.delay),
      ...fact('Slot hours', parts.hours), ...fact('Price of a slot hour', parts.price),
      ...fact('Epoch', parts.epoch), ...fact('Made', parts.made)),
    parts.bar,
    el('div', { class: 'buttons' }, parts.delayButton, parts.rebalance, parts.drain), parts.hint,
    el('h3', {}, 'Over time ', makeCsvButton('the chart', 'chart-lease.csv', () => rowsOf(parts.canvas))), el('div', { class: 'canvas' }, parts.canvas),
    el('h3', {}, 'Hosts ', makeCsvButton('the hosts', 'hosts.csv',
      () => known.leases.get(id).hosts.map((host) => ({ lease: id, ...host })))), el('table', { class: 'hosts' }, parts.hosts),
    el('h3', {}, 'Timeline'), parts.timeline]);
  parts.hostRows = new Map();
  return parts;
}

function drawHosts(lease) {
  setChildren(built.hosts, lease.hosts.map((host) => {
    if (!built.hostRows.has(host.host)) {
      const bar = el('div', { class: 'bar' });
      const text = el('td', { class: 'num sub' });
      built.hostRows.set(host.host, { bar, text,
        row: el('tr', {}, el('td', {}, host.host), el('td', {}, bar), text) });
    }
    const drawn = built.hostRows.get(host.host);
    fillBar(drawn.bar, partsOf({ ...host, state: lease.state }), `${host.host}: ${describe({ ...host, state: lease.state })}`);
    setText(drawn.text, host.is_down ? 'down' : `${host.slots} slots`);
    return drawn.row;
  }));
}

function hoursWarning(lease) {
  const part = lease.hours_used / lease.hours;
  return part >= 1 ? ': no job starts until it is over' : part >= 0.8 ? ', which is 80 % or more' : '';
}

function drawFacts(lease) {
  const [name, word] = badgeOf(lease);
  setClass(built.badge, `badge ${name}`);
  setText(built.badge, word);
  setText(built.sides, describe(lease));
  setText(built.why, lease.reason || '-');
  setText(built.delay, lease.type === 'shared' ? formatDelay(lease.reclaim_delay_s)
    : lease.type === 'pool' ? 'none: its pool\u2019s cycles move its slots'
    : 'none: an exclusive lease is not rebalanced');
  setText(built.hours, lease.hours === null ? 'any number'
    : `${lease.hours_used} of ${lease.hours} used in this month${hoursWarning(lease)}`);
  setText(built.price, lease.price === 0 ? 'none' : `${lease.price} credits`);
  setText(built.epoch, String(lease.epoch));
  setText(built.made, lease.made_at === null ? 'not yet: with the consumer\u2019s first job' : formatClock(lease.made_at));
  fillBar(built.bar, partsOf(lease), describe(lease));
  drawLeaseClock();
  const actions = known.about?.actions ?? {};
  built.delayButton.disabled = !actions.reclaim_delay || lease.type !== 'shared';
  built.rebalance.disabled = !actions.drain || lease.state !== 'active' || lease.type === 'pool';
  setText(built.drain, lease.drained ? 'Resume …' : 'Drain …');
  built.drain.disabled = !actions.drain || (lease.state === 'ended' && !lease.drained);
  setText(built.hint, actions.reclaim_delay ? ''
    : known.about?.user !== undefined ? `${known.about.user} may read only.`
    : 'Nothing is changed over HTTP here: the Broker section names no TOKENS.');
}

async function drawTimeline(lease) {
  const id = lease.id;
  const key = `${lease.changed_at} ${lease.epoch} ${lease.state}`;
  if (key === historyAt) {
    return;
  }
  historyAt = key;
  const rows = (await askLast(`/api/v1/leases/${leasePath(id)}/history`, 'history', HISTORY)).reverse();
  if (shown !== id) {
    return;
  }
  setChildren(built.timeline, rows.map((row) => {
    const bar = el('div', { class: 'bar' });
    fillBar(bar, partsOf(row), describe(row));
    return el('li', { class: row.state }, el('time', { datetime: row.at, class: 'sub num' }, formatClock(row.at)),
      ` ${wordOf(row.event)}, epoch ${row.epoch}`, row.reason ? el('div', { class: 'sub' }, row.reason) : null, bar);
  }));
}

async function drawSeries(id) {
  if (Date.now() - seriesAt < REFRESH_MS) {
    return;
  }
  seriesAt = Date.now();
  let rows = [];
  try {
    rows = (await ask(`/api/v1/series/leases/${leasePath(id)}?span_s=${SPAN_S}`)).series;
  } catch (error) {
    if (error.status !== 404) {
      return;
    }
  }
  if (shown === id) {
    drawChart(built.canvas, LINES, rows, timeOf(SPAN_S));
  }
}

export function drawLeaseClock() {
  const lease = known.leases.get(shown);
  if (built !== null && lease !== undefined) {
    setText(built.age, formatAge(lease.changed_at));
    setText(built.next, formatCountdown(lease.next_rebalance_at));
  }
}

export function drawLease() {
  if (shown === null) {
    return;
  }
  const lease = known.leases.get(shown);
  if (lease === undefined) {
    if (known.isLive) {
      dropBody();
      setChildren(body, [el('p', { class: 'nothing' }, 'The broker knows no lease of this id.')]);
    }
    return;
  }
  if (built === null) {
    built = build(shown);
  }
  drawFacts(lease);
  drawHosts(lease);
  drawTimeline(lease).catch(() => { historyAt = ''; });
  drawSeries(shown);
}

function dropBody() {
  if (built !== null) {
    dropChart(built.canvas);
  }
  built = null;
  historyAt = '';
  seriesAt = 0;
}

// As the address says: open, closed, or another.
export function showLease(view = read()) {
  const wanted = view.lease || null;
  if (wanted === shown) {
    return;
  }
  shown = wanted;
  dropBody();
  setChildren(body, []);
  if (shown === null) {
    dialog.close();
    return;
  }
  setText(document.getElementById('lease-id'), shown);
  if (!dialog.open) {
    dialog.showModal();
  }
  drawLease();
}

dialog.querySelector('.close').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) {
    dialog.close();
  }
});
dialog.addEventListener('close', () => {
  if (shown !== null) {
    write({ lease: '' });
  }
});
