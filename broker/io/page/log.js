// SPDX-License-Identifier: Apache-2.0
// log.js: what happened to leases and sites, latest first.
import { el, formatClock, plural, saveCsv, setChildren, setText } from './format.js';
import { known } from './feed.js';
import { filterLeases } from './leases.js';

const list = document.getElementById('log');
const isFiltered = document.getElementById('log-filtered');
const isFolded = document.getElementById('log-folded');
const rows = new Map();
const folds = new Map();   // by the latest event of a run of hand-overs
const opened = new Set();  // ids of events whose fold was opened

const FOLD_MIN = 3;
const WORDS = {
  lease_registered: 'registered', lease_made: 'made', lease_inactive: 'being changed',
  lease_active: 'active', lease_changed: 'changed by its provider', lease_drain: 'draining',
  lease_end: 'ended', lease_rebalance: 'rebalance requested', lease_resume: 'resumed',
  site_lost: 'lost', site_back: 'back', site_drain: 'draining', site_resume: 'resumed',
  reclaim_delay: 'reclaim delay', reload: 'configuration',
  hours: 'slot hours of the month', quota: 'quota', recall: 'is to give slots back', recall_done: 'has given slots back',
};

export const wordOf = (event) => WORDS[event] ?? WORDS[`lease_${event}`] ?? event;

function makeRow(event) {
  const isBad = event.event === 'site_lost';
  const split = event.event === 'quota' ? ` ${event.quota} of ${event.demand} wanted`
    : event.slots !== undefined ? `: ${event.slots}` : event.provider !== undefined
    ? ` (${event.provider.available} + ${event.consumer.available} slots)` : '';
  return el('li', { 'data-event': event.id },
    el('time', { datetime: event.at }, formatClock(event.at)),
    el('span', { class: isBad ? 'what bad' : 'what' }, event.lease ?? event.site ?? event.node ?? 'federation'),
    el('span', { class: 'why' }, `${wordOf(event.event)}${split}`,
      event.reason ? `: ${event.reason}` : ''));
}

function shownEvents() {
  if (!isFiltered.checked) {
    return known.events;
  }
  const ids = new Set(filterLeases().map((lease) => lease.id));
  return known.events.filter((event) => ids.has(event.lease));
}

// Such a row says only that a lease's idle slots changed sides: no side gained or lost a
// slot that was in use, and nobody ordered it.
const isHandOver = (event) => event.event === 'lease_inactive' || event.event === 'lease_active';

function rowOf(event) {
  if (!rows.has(event.id)) {
    rows.set(event.id, makeRow(event));
  }
  return rows.get(event.id);
}

function foldOf(run) {
  const [latest, first] = [run[0], run[run.length - 1]];
  if (!folds.has(first.id)) {
    const button = el('button', { type: 'button', class: 'fold' });
    const time = el('time');
    folds.set(first.id, { button, time, row: el('li', {}, time, el('span', { class: 'what' }, latest.lease),
      el('span', { class: 'why' }, button)) });
  }
  const fold = folds.get(first.id);
  setText(fold.time, formatClock(latest.at));
  setText(fold.button, `${plural(run.length, 'row')}: idle slots changed sides${latest.reason ? `: ${latest.reason}` : ''}`);
  fold.button.onclick = () => {
    opened.add(first.id);
    drawLog();
  };
  return fold.row;
}

// The hand-overs of [start, end) by lease and reason: those of a lease are equal while each
// kind of event keeps its reason. Hand-overs of other leases may come between them.
function splitRuns(events, start, end) {
  const runs = [];
  const current = new Map(); // by lease
  for (let i = start; i < end; i++) {
    const { lease, event, reason = '' } = events[i];
    const run = current.get(lease);
    if (run !== undefined && (run.reasons[event] ?? reason) === reason) {
      run.reasons[event] = reason;
      run.places.push(i);
    } else {
      current.set(lease, { reasons: { [event]: reason }, places: [i] });
      runs.push(current.get(lease));
    }
  }
  return runs.map((run) => run.places);
}

// The rows, with runs of equal hand-overs folded into one row each, at the latest one's place.
function foldRows(events) {
  const placed = [];
  for (let i = 0; i < events.length;) {
    let end = i;
    while (isFolded.checked && end < events.length && isHandOver(events[end])) {
      end++;
    }
    for (const places of splitRuns(events, i, end)) {
      const run = places.map((place) => events[place]);
      const isRun = run.length >= FOLD_MIN && !opened.has(run[run.length - 1].id);
      placed.push(...(isRun ? [[places[0], foldOf(run)]] : places.map((place) => [place, rowOf(events[place])])));
    }
    if (end === i) {
      placed.push([i, rowOf(events[i])]);
    }
    i = Math.max(end, i + 1);
  }
  return placed.sort(([a], [b]) => a - b).map(([, row]) => row);
}

export function drawLog() {
  const wanted = foldRows(shownEvents());
  // Who reads further down is not pushed away by what comes in above.
  const before = list.scrollHeight;
  const isAtTop = list.scrollTop < 4;
  setChildren(list, wanted);
  if (!isAtTop) {
    list.scrollTop += list.scrollHeight - before;
  }
  if (rows.size > 2 * known.events.length + 50) {
    const kept = new Set(known.events.map((event) => event.id));
    for (const id of rows.keys()) {
      if (!kept.has(id)) {
        rows.delete(id);
      }
    }
    folds.clear();
  }
}

isFiltered.addEventListener('change', drawLog);
isFolded.addEventListener('change', () => {
  opened.clear();
  drawLog();
});
document.getElementById('log-csv').addEventListener('click', () => saveCsv('changes.csv', [
  ['id', 'at', 'event', 'lease', 'site', 'node', 'epoch', 'provider_available', 'consumer_available', 'reason'],
  ...shownEvents().map((event) => [event.id, event.at, event.event, event.lease, event.site, event.node, event.epoch,
    event.provider?.available, event.consumer?.available, event.reason])]));
