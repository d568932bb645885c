// SPDX-License-Identifier: Apache-2.0
// site.js: one site: its hosts, queues and pending jobs, which the broker asks the site
// for, and the slots that it lends and borrows, by the leases.
import { el, formatAge, makeCsvButton, plural, setChildren, setText } from './format.js';
import { ask, known } from './feed.js';
import { read, write } from './address.js';

const REFRESH_MS = 5000;
const dialog = document.getElementById('site');
const body = document.getElementById('site-body');
let shown = null;    // the name of the site
let overview = null; // its last answer
let trouble = '';    // why there is no newer one
let askedAt = 0;

// ---- tables

function drawTable(columns, rows) {
  return el('div', { class: 'wide' }, el('table', { class: 'overview' },
    el('thead', {}, el('tr', {}, ...columns.map(([name, , isNumber]) => el('th', { scope: 'col', class: isNumber ? 'number' : '' }, name)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...columns.map(([, value, isNumber]) => {
      const cell = value(row);
      return el('td', { class: isNumber ? 'number' : '' }, cell instanceof Node ? cell : String(cell ?? '–'));
    }))))));
}

// A heading with the rows below it, or a sentence if there are none.
function drawPart(title, file, columns, rows, nothing, note = '') {
  return [el('h3', {}, `${title} `, rows.length > 0 ? makeCsvButton(title.toLowerCase(), `${file}.csv`, () => rows) : null),
    rows.length > 0 ? drawTable(columns, rows) : el('p', { class: 'nothing' }, nothing),
    note === '' ? null : el('p', { class: 'sub' }, note)].filter((part) => part !== null);
}

const firstOf = (rows, count, what) => (rows.length < count ? `The first ${rows.length} of ${plural(count, what)} are shown.` : '');

// ---- by the leases

const leaseButton = (lease) => el('button', { type: 'button', class: 'plain',
  onclick: () => write({ overview: '', lease: lease.id }, true) }, lease.id);

function drawLeases(side, other, title, nothing) {
  const leases = [...known.leases.values()].filter((lease) => lease[side].site === shown && lease.state !== 'ended')
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return drawPart(title, `${shown}-${title.toLowerCase().replaceAll(' ', '-')}`, [['Lease', leaseButton], [side === 'provider' ? 'Used by' : 'From', (lease) => lease[other].site],
    ['Held', (lease) => lease.consumer.available, true], ['Used', (lease) => lease.consumer.used, true],
    ['Idle', (lease) => lease.consumer.available - lease.consumer.used, true], ['State', (lease) => lease.state]],
  leases, nothing);
}

// ---- what the site says

function drawQueues() {
  return drawPart('Queues', `${shown}-queues`, [['Queue', (queue) => queue.queue], ['Status', (queue) => queue.status],
    ['Priority', (queue) => queue.priority, true], ['Pending', (queue) => queue.pend, true],
    ['Running', (queue) => queue.run, true], ['Suspended', (queue) => queue.susp, true]],
  overview.queues, 'The site has no queue.', firstOf(overview.queues, overview.n_queues, 'queue') || 'Pending, running and suspended are slots of jobs.');
}

function drawPending() {
  const parts = drawPart('Pending jobs', `${shown}-pending`, [['Reason', (row) => row.reason], ['Jobs', (row) => row.jobs, true]],
    overview.pending, 'No job is pending.');
  if (overview.jobs === null || overview.pending.length === 0) {
    return parts;
  }
  const count = overview.pending.reduce((sum, row) => sum + row.jobs, 0);
  return [...parts, drawTable([['Job', (job) => job.id], ['Name', (job) => job.name], ['User', (job) => job.user],
    ['Queue', (job) => job.queue], ['Slots', (job) => job.slots, true], ['Since', (job) => formatAge(job.submitted_at)],
    ['Reason', (job) => job.reason]], overview.jobs),
  el('p', { class: 'sub' }, firstOf(overview.jobs, count, 'job'))];
}

function drawHosts() {
  return drawPart('Hosts', `${shown}-hosts`, [['Host', (host) => host.host], ['Status', (host) => host.status],
    ['Slots', (host) => host.max, true], ['Running', (host) => host.run, true],
    ['Suspended', (host) => host.ssusp + host.ususp, true], ['Reserved', (host) => host.rsv, true],
    ['Lent', (host) => host.lent, true]],
  overview.hosts, 'The site has no host.', firstOf(overview.hosts, overview.n_hosts, 'host'));
}

function draw() {
  const site = known.sites.get(shown);
  const said = overview === null ? [] : [...drawQueues(), ...drawPending(), ...drawHosts()];
  setChildren(body, [
    site === undefined ? el('p', { class: 'nothing' }, 'The broker knows no site of this name.')
      : el('p', { class: 'sub' }, site.status === 'disc' ? `not connected since ${formatAge(site.since)}` : `${site.roles.join(', ')}; connected`),
    trouble === '' ? null : el('p', { class: 'error', role: 'alert' }, trouble),
    ...drawLeases('provider', 'consumer', 'Lent slots', 'The site lends no slots.'),
    ...drawLeases('consumer', 'provider', 'Borrowed slots', 'The site borrows no slots.'), ...said].filter((part) => part !== null));
}

// ---- asking

async function refresh() {
  const name = shown;
  askedAt = Date.now();
  try {
    const answer = await ask(`/api/v1/sites/${encodeURIComponent(name)}/overview`);
    if (shown !== name) {
      return;
    }
    overview = answer;
    trouble = '';
  } catch (why) {
    if (shown !== name) {
      return;
    }
    trouble = `${why.message}.${overview === null ? '' : ' What is shown is older.'}`;
  }
  draw();
}

// Each second.
export function drawSiteClock() {
  if (shown !== null && known.isLive && Date.now() - askedAt >= REFRESH_MS) {
    refresh();
  }
}

// When leases or sites have changed. What is being read or typed stays.
export function drawSite() {
  if (shown !== null && !body.contains(document.activeElement)) {
    draw();
  }
}

// As the address says: open, closed, or another.
export function showSite(view = read()) {
  const wanted = view.overview || null;
  if (wanted === shown) {
    return;
  }
  shown = wanted;
  overview = null;
  trouble = '';
  if (shown === null) {
    dialog.close();
    return;
  }
  setText(document.getElementById('site-name'), shown);
  if (!dialog.open) {
    dialog.showModal();
  }
  draw();
  refresh();
}

dialog.querySelector('.close').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) {
    dialog.close();
  }
});
dialog.addEventListener('close', () => {
  if (shown !== null) {
    write({ overview: '' });
  }
});
