// SPDX-License-Identifier: Apache-2.0
// sites.js: the summary, the alarms, and the bars of the sites.
import { el, fillBar, formatAge, formatDuration, now, plural, saveObjects, setChildren, setClass, setText } from './format.js';
import { known } from './feed.js';
import { write } from './address.js';

const SHOWN = 40;
const INACTIVE_TOO_LONG_S = 60;
const rows = new Map();
let isAllShown = false;

const list = document.getElementById('sites');
const more = document.getElementById('more-sites');
more.addEventListener('click', () => {
  isAllShown = true;
  drawSites();
});

const sortedSites = () => [...known.sites.values()].sort((a, b) => (a.site < b.site ? -1 : 1));
document.getElementById('site-csv').addEventListener('click', () => saveObjects('sites.csv', sortedSites()));

// By site: slots that the consumers of its leases use ('provider'), or that its own jobs
// use elsewhere ('consumer').
function countInUse(side) {
  const used = new Map();
  for (const lease of known.leases.values()) {
    const name = lease[side].site;
    used.set(name, (used.get(name) ?? 0) + lease.consumer.used);
  }
  return used;
}

// What a bar is made of. Own idle slots are those that are neither used nor lent; some
// of them may be on closed hosts, which the site's own listing tells.
export function partsOf(site, usedElsewhere, lentUsed) {
  const { own, used, lent, borrowed } = site.slots;
  if (own === null) {
    return null;
  }
  const busy = Math.min(borrowed, usedElsewhere);
  return [['own-used', used, 'own used'], ['own-idle', Math.max(0, own - used - lent), 'own idle'],
    ['lent-used', Math.min(lent, lentUsed), 'lent used'],
    ['lent-idle', lent - Math.min(lent, lentUsed), 'lent idle'], ['borrowed-used', busy, 'borrowed used'],
    ['borrowed-idle', borrowed - busy, 'borrowed idle'], ['waiting', site.pending, 'waiting']];
}

function makeRow(name) {
  const parts = {
    name: el('button', { type: 'button', class: 'plain', 'data-tip': `Hosts, queues and pending jobs of ${name}`,
      onclick: () => write({ overview: name }, true) }, name), since: el('small'), bar: el('div', { class: 'bar', tabindex: '0' }),
    text: el('div', { class: 'text' }),
  };
  const row = el('li', { 'data-site': name }, el('div', { class: 'name' }, parts.name, parts.since),
    el('div', { class: 'track' }, parts.bar), parts.text);
  return { row, ...parts };
}

function drawSite(site, widest, usedElsewhere, lentUsed) {
  if (!rows.has(site.site)) {
    rows.set(site.site, makeRow(site.site));
  }
  const drawn = rows.get(site.site);
  const parts = partsOf(site, usedElsewhere.get(site.site) ?? 0,
    lentUsed.get(site.site) ?? 0);
  const isLost = site.status === 'disc'; // a standby does not know it
  setClass(drawn.row, isLost ? 'site lost' : 'site');
  setText(drawn.since, isLost ? 'not connected' : site.roles.join(', '));
  if (parts === null) {
    setText(drawn.text, site.status === null ? 'reported to the leader'
      : isLost && site.since === null ? 'never seen' : 'nothing reported yet');
    drawn.bar.hidden = true;
    return drawn.row;
  }
  const said = parts.map(([, count, what]) => `${what} ${count}`).join(', ');
  const total = fillBar(drawn.bar, parts, `${site.site}: ${said}`);
  drawn.bar.hidden = false;
  drawn.bar.style.width = `${(100 * total) / widest}%`;
  setText(drawn.text, `${site.slots.used + parts[4][1]} in use · ${site.slots.idle} free` +
    (site.pending > 0 ? ` · ${site.pending} waiting` : ''));
  return drawn.row;
}

export function drawSites() {
  const sites = sortedSites();
  const shown = isAllShown ? sites : sites.slice(0, SHOWN);
  const used = countInUse('consumer');
  const lentUsed = countInUse('provider');
  const totals = shown.map((site) => (partsOf(site, 0, 0) ?? []).reduce((sum, [, count]) => sum + count, 0));
  const widest = Math.max(1, ...totals);
  setChildren(list, shown.map((site) => drawSite(site, widest, used, lentUsed)));
  more.hidden = shown.length === sites.length;
  setText(more, `Show all ${sites.length} sites`);
}

// ---- summary

const summary = document.getElementById('summary');
const facts = new Map();

function drawFact(name, value, rest, isBad = false) {
  if (!facts.has(name)) {
    const fact = { number: el('span'), rest: el('small') };
    fact.box = el('div', { 'data-fact': name }, el('dt', {}, name), el('dd', {}, fact.number, fact.rest));
    facts.set(name, fact);
    summary.append(fact.box);
  }
  const fact = facts.get(name);
  setText(fact.number, String(value));
  setText(fact.rest, rest);
  setClass(fact.box, isBad ? 'bad' : '');
}

export function drawSummary() {
  const sum = { own: 0, used: 0, borrowed: 0, lent: 0, idle: 0, pending: 0 };
  const sites = [...known.sites.values()];
  const here = sites.filter((site) => site.status !== 'disc');
  for (const site of here) {
    for (const name of Object.keys(sum)) {
      sum[name] += (name === 'pending' ? site.pending : site.slots[name]) ?? 0;
    }
  }
  let inUse = 0;
  let changing = 0;
  for (const lease of known.leases.values()) {
    inUse += lease.consumer.used;
    changing += lease.state === 'inactive' ? 1 : 0;
  }
  // What sites report, and which are connected, is known to the broker that leads alone.
  const isStandby = known.about?.role === 'standby';
  drawFact('slots in use', isStandby ? '\u2013' : sum.used + inUse, isStandby ? '' : ` of ${sum.own}`);
  drawFact('slots lent', isStandby ? '\u2013' : sum.lent, isStandby ? '' : ` ${inUse} in use`);
  drawFact('slots that jobs wait for', isStandby ? '\u2013' : sum.pending, '');
  drawFact('leases', [...known.leases.values()].filter((lease) => lease.state !== 'ended').length, changing > 0 ? ` ${changing} changing` : '');
  drawFact('sites connected', isStandby ? '\u2013' : here.length, ` of ${sites.length}`,
    here.length < sites.length);
}

// ---- alarms: what a person on duty has to look at

const alarms = document.getElementById('alarms');

function findAlarms() {
  const found = [];
  if (!known.isLive && known.goneSince !== null) {
    found.push(['', 'The broker does not answer. What is shown is as old as ' +
      `${formatDuration((Date.now() - known.goneSince) / 1000)}; trying again.`, null]);
  }
  const lost = [...known.sites.values()].filter((site) => site.status === 'disc' && site.since !== null);
  for (const site of lost.slice(0, 5)) {
    found.push(['', `${site.site} disconnected ${formatAge(site.since)}. Nothing moves on its leases.`,
      null]);
  }
  if (lost.length > 5) {
    found.push(['', `And ${plural(lost.length - 5, 'more site is', 'more sites are')} not connected.`, null]);
  }
  const behind = [...known.sites.values()].filter((site) => site.journal_lost.commits > 0 ||
    site.journal_lost.attempts > 0 || site.journal_lost.jobs > 0);
  for (const site of behind.slice(0, 5)) {
    found.push(['', `The journal of ${site.site} is behind: ${site.journal_lost.commits} commits, ` +
      `${site.journal_lost.attempts} attempts and ${site.journal_lost.jobs} jobs are missing. ` +
      'See sublet runs --orphans there.', null]);
  }
  const stuck = [...known.leases.values()].filter((lease) => lease.state === 'inactive' &&
    lease.changed_at !== null && now() - Date.parse(lease.changed_at) > INACTIVE_TOO_LONG_S * 1000);
  if (stuck.length > 0) {
    found.push(['warn', `${plural(stuck.length, 'lease is', 'leases are')} inactive for more than a minute.`,
      { state: 'inactive' }]);
  }
  return found;
}

export function drawAlarms() {
  const wanted = findAlarms();
  wanted.forEach(([kind, text, filter], i) => {
    if (alarms.children.length <= i) {
      alarms.append(el('p', {}, el('span'), ' '));
    }
    const alarm = alarms.children[i];
    setClass(alarm, `alarm ${kind}`);
    setText(alarm.firstChild, text);
    const button = alarm.querySelector('button');
    if (filter === null) {
      button?.remove();
    } else if (button === null) {
      alarm.append(el('button', { type: 'button', onclick: () => write(filter, true) }, 'Show'));
    }
  });
  while (alarms.children.length > wanted.length) {
    alarms.lastChild.remove();
  }
}
