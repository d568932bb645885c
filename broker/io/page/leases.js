// SPDX-License-Identifier: Apache-2.0
// leases.js: the table of leases: filtered, sorted, a row changed where its lease has.
import { el, fillBar, formatAge, formatCountdown, formatDelay, plural, saveCsv, setChildren, setClass, setText } from './format.js';
import { known } from './feed.js';
import { read, write } from './address.js';

const SHOWN = 150; // rows at first, and more at each push of the button
const rows = new Map();
let limit = SHOWN;
let shown = [];
let openDrawn = new Set(); // ids of the leases to be shown without a filter, when drawn

const table = document.getElementById('leases');
const body = document.getElementById('lease-rows');
const count = document.getElementById('lease-count');
const more = document.getElementById('more-leases');
const nothing = document.getElementById('no-leases');

// ---- one lease

// While a lease is being changed its idle slots are nobody's: nothing starts on them.
export function partsOf(lease) {
  const { provider, consumer } = lease;
  const idle = [provider.available - provider.used, consumer.available - consumer.used]
    .map((slots) => Math.max(0, slots));
  const isMoving = lease.state === 'inactive';
  return [['provider-used', provider.used], ['provider-idle', isMoving ? 0 : idle[0]],
    ['transit', isMoving ? idle[0] + idle[1] : 0], ['consumer-idle', isMoving ? 0 : idle[1]],
    ['consumer-used', consumer.used]];
}

export function describe(lease) {
  const side = (of) => `${of.site ?? ''} holds ${of.available}, uses ${of.used}`.trim();
  return `${side(lease.provider)}; ${side(lease.consumer)}` +
    (lease.state === 'inactive' ? '; its idle slots are in transit' : '');
}

export function badgeOf(lease) {
  if (lease.drained && lease.state === 'ended') {
    return ['ended', 'drained'];
  }
  return lease.status === 'disc' && lease.state !== 'ended' ? ['disc', 'disconnected']
    : [lease.state, lease.state];
}

function makeRow(id) {
  const parts = {
    who: el('button', { type: 'button', class: 'plain', onclick: () => write({ lease: id }, true) }),
    sub: el('div', { class: 'sub' }), bar: el('div', { class: 'bar' }),
    slots: el('div', { class: 'sub num' }), badge: el('span'), age: el('div', { class: 'num' }),
    why: el('div', { class: 'sub' }), next: el('div', { class: 'num' }), delay: el('div', { class: 'sub' }),
  };
  const row = el('tr', { 'data-lease': id },
    el('td', {}, el('div', { class: 'who' }, parts.who), parts.sub),
    el('td', {}, parts.bar, parts.slots), el('td', {}, parts.badge),
    el('td', {}, parts.age, parts.why), el('td', {}, parts.next, parts.delay));
  return { row, ...parts };
}

function drawTimes(drawn, lease) {
  setText(drawn.age, formatAge(lease.changed_at));
  setText(drawn.next, formatCountdown(lease.next_rebalance_at));
}

function drawRow(lease) {
  if (!rows.has(lease.id)) {
    rows.set(lease.id, { ...makeRow(lease.id), drawn: null });
  }
  const drawn = rows.get(lease.id);
  if (drawn.drawn === lease) {
    return drawn.row;
  }
  drawn.drawn = lease;
  const [name, word] = badgeOf(lease);
  setText(drawn.who, `${lease.provider.site} → ${lease.consumer.site}`);
  setText(drawn.sub, `${lease.id} · ${lease.type}`);
  fillBar(drawn.bar, partsOf(lease), describe(lease));
  setText(drawn.slots, `${lease.provider.used}/${lease.provider.available} used at ${lease.provider.site}, ` +
    `${lease.consumer.used}/${lease.consumer.available} by ${lease.consumer.site}`);
  setClass(drawn.badge, `badge ${name}`);
  setText(drawn.badge, word);
  setText(drawn.why, lease.reason ?? '');
  setText(drawn.delay, lease.type === 'shared'
    ? (lease.reclaim_delay_s === null ? '' : `every ${formatDelay(lease.reclaim_delay_s)}`)
    : lease.type === 'pool' ? 'by its pool\u2019s cycles' : 'never, exclusive');
  drawTimes(drawn, lease);
  return drawn.row;
}

// ---- which, in what order

// Without a filter: what is open, and what a drain has ended and resume brings back.
function fitsState(lease, state) {
  switch (state) {
  case '': return lease.state !== 'ended' || lease.drained;
  case 'all': return true;
  case 'disc': return lease.status === 'disc' && lease.state !== 'ended';
  case 'drained': return lease.drained;
  default: return lease.state === state;
  }
}

export function filterLeases(view = read()) {
  const words = view.q.toLowerCase().split(/\s+/).filter((word) => word !== '');
  return [...known.leases.values()].filter((lease) => {
    if ((view.provider && lease.provider.site !== view.provider) ||
        (view.consumer && lease.consumer.site !== view.consumer)) {
      return false;
    }
    if (!fitsState(lease, view.state)) {
      return false;
    }
    if (words.length === 0) {
      return true;
    }
    const text = `${lease.id} ${lease.state} ${lease.type} ${lease.reason} ` +
      lease.hosts.map((host) => host.host).join(' ');
    return words.every((word) => text.toLowerCase().includes(word));
  });
}

const slotsOf = (lease) => lease.provider.available + lease.consumer.available;
const late = '9999';
const orders = {
  id: (a, b) => 0,
  slots: (a, b) => slotsOf(a) - slotsOf(b),
  state: (a, b) => badgeOf(a)[1].localeCompare(badgeOf(b)[1]),
  changed: (a, b) => (b.changed_at ?? '').localeCompare(a.changed_at ?? ''),
  next: (a, b) => (a.next_rebalance_at ?? late).localeCompare(b.next_rebalance_at ?? late),
};

function sortLeases(leases, sort) {
  const isDown = sort.startsWith('-');
  const order = orders[sort.replace('-', '')] ?? orders.id;
  const byId = (a, b) => (a.id < b.id ? -1 : 1);
  return leases.sort((a, b) => (isDown ? -1 : 1) * (order(a, b) || byId(a, b)));
}

function drawHeads(sort) {
  for (const head of table.tHead.querySelectorAll('th')) {
    const key = sort.replace('-', '') || 'id';
    if (head.dataset.sort === key) {
      head.setAttribute('aria-sort', sort.startsWith('-') ? 'descending' : 'ascending');
    } else {
      head.removeAttribute('aria-sort');
    }
  }
}

export function drawLeases(view = read()) {
  const leases = sortLeases(filterLeases(view), view.sort);
  shown = leases.slice(0, limit);
  setChildren(body, shown.map(drawRow));
  for (const id of rows.keys()) {
    if (!known.leases.has(id)) {
      rows.delete(id);
    }
  }
  openDrawn = new Set([...known.leases.values()].filter((lease) => fitsState(lease, ''))
    .map((lease) => lease.id));
  const total = openDrawn.size;
  const nEnded = known.leases.size - total;
  setText(count, leases.length === total ? `${total}` : `${leases.length} of ${known.leases.size}`);
  more.hidden = leases.length <= limit;
  setText(more, `Show ${Math.min(SHOWN, leases.length - limit)} more of ${leases.length}`);
  nothing.hidden = leases.length > 0;
  const isFiltered = view.q || view.provider || view.consumer || view.state;
  setText(nothing, isFiltered ? 'No lease fits these filters.'
    : nEnded > 0 ? `No lease is open. ${plural(nEnded, 'lease has', 'leases have')} ended: choose the state \u201cended\u201d to see ${nEnded === 1 ? 'it' : 'them'}.`
    : known.sites.size === 0 ? 'No site is a member of this federation yet.'
    : 'No lease has been registered since the broker started: a lease appears when a provider with a HostExport section connects.');
  table.hidden = leases.length === 0;
  drawHeads(view.sort);
}

// Only these leases have changed: where none came or went, and all are shown in the
// order of their ids, the table is what it was but for their rows.
export function redrawLeases(ids) {
  const view = read();
  const isPlain = !view.q && !view.provider && !view.consumer && !view.state &&
    (view.sort === '' || view.sort === 'id');
  const isSame = [...ids].every((id) => fitsState(known.leases.get(id), '') === openDrawn.has(id));
  if (!isPlain || !isSame) {
    drawLeases(view);
    return;
  }
  shown = shown.map((lease) => known.leases.get(lease.id) ?? lease);
  for (const lease of shown) {
    if (ids.has(lease.id)) {
      drawRow(lease);
    }
  }
}

// Each second; only what is in sight changes its text.
let inSight = new Set();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    inSight[entry.isIntersecting ? 'add' : 'delete'](entry.target.dataset.lease);
  }
});
const watched = new WeakSet();
export function drawLeaseTimes() {
  for (const lease of shown) {
    const drawn = rows.get(lease.id);
    if (drawn !== undefined && !watched.has(drawn.row)) {
      watched.add(drawn.row);
      watcher.observe(drawn.row);
    }
    if (drawn !== undefined && inSight.has(lease.id)) {
      drawTimes(drawn, lease);
    }
  }
}

// ---- filters

const inputs = Object.fromEntries(['q', 'provider', 'consumer', 'state']
  .map((name) => [name, document.getElementById(`f-${name}`)]));

// The sites that lend, or borrow; one that is asked for and gone stays choosable.
export function drawFilters(view = read()) {
  for (const side of ['provider', 'consumer']) {
    const names = new Set([...known.leases.values()].map((lease) => lease[side].site));
    if (view[side]) {
      names.add(view[side]);
    }
    const wanted = ['', ...[...names].sort()];
    const select = inputs[side];
    if ([...select.options].map((option) => option.value).join('\n') !== wanted.join('\n')) {
      select.replaceChildren(...wanted.map((name) => el('option', { value: name }, name || 'any')));
    }
  }
  for (const [name, input] of Object.entries(inputs)) {
    if (document.activeElement !== input || input.tagName === 'SELECT') {
      input.value = view[name];
    }
  }
}

// All that fit the filters, in the order of the table.
function saveLeases() {
  const view = read();
  saveCsv('leases.csv', [
    ['lease', 'type', 'state', 'status', 'drained', 'epoch', 'provider', 'provider_available', 'provider_used',
      'consumer', 'consumer_available', 'consumer_used', 'changed_at', 'next_rebalance_at', 'reclaim_delay_s', 'reason'],
    ...sortLeases(filterLeases(view), view.sort).map((lease) => [lease.id, lease.type, lease.state, lease.status,
      lease.drained, lease.epoch, lease.provider.site, lease.provider.available, lease.provider.used,
      lease.consumer.site, lease.consumer.available, lease.consumer.used, lease.changed_at,
      lease.next_rebalance_at, lease.reclaim_delay_s, lease.reason])]);
}

export function startLeases() {
  for (const [name, input] of Object.entries(inputs)) {
    input.addEventListener('input', () => {
      limit = SHOWN;
      write({ [name]: input.value.trim() });
    });
  }
  document.getElementById('filters').addEventListener('submit', (event) => event.preventDefault());
  document.getElementById('clear').addEventListener('click', () => {
    inputs.q.value = '';
    write({ q: '', provider: '', consumer: '', state: '' });
  });
  for (const head of table.tHead.querySelectorAll('th')) {
    head.firstElementChild.addEventListener('click', () => {
      const key = head.dataset.sort;
      const isThis = (read().sort || 'id') === key;
      write({ sort: isThis ? `-${key}` : key === 'id' ? '' : key });
    });
  }
  document.getElementById('lease-csv').addEventListener('click', saveLeases);
  more.addEventListener('click', () => {
    limit += SHOWN;
    drawLeases();
  });
}
