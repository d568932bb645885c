// SPDX-License-Identifier: Apache-2.0
// log.js: what happened to leases and sites, latest first.
import { el, formatClock, setChildren } from './format.js';
import { known } from './feed.js';
import { filterLeases } from './leases.js';

const list = document.getElementById('log');
const isFiltered = document.getElementById('log-filtered');
const rows = new Map();

const WORDS = {
  lease_registered: 'registered', lease_made: 'made', lease_inactive: 'being changed',
  lease_active: 'active', lease_changed: 'changed by its provider', lease_drain: 'draining',
  lease_end: 'ended', site_lost: 'lost', site_back: 'back',
  quota: 'quota', recall: 'is to give slots back', recall_done: 'has given slots back',
};

function makeRow(event) {
  const isBad = event.event === 'site_lost';
  const split = event.event === 'quota' ? ` ${event.quota} of ${event.demand} wanted`
    : event.slots !== undefined ? `: ${event.slots}` : event.provider !== undefined
    ? ` (${event.provider.available} + ${event.consumer.available} slots)` : '';
  return el('li', { 'data-event': event.id },
    el('time', { datetime: event.at }, formatClock(event.at)),
    el('span', { class: isBad ? 'what bad' : 'what' }, event.lease ?? event.site ?? event.node),
    el('span', { class: 'why' }, `${WORDS[event.event] ?? event.event}${split}`,
      event.reason ? `: ${event.reason}` : ''));
}

export function drawLog() {
  let events = known.events;
  if (isFiltered.checked) {
    const ids = new Set(filterLeases().map((lease) => lease.id));
    events = events.filter((event) => ids.has(event.lease));
  }
  const wanted = events.map((event) => {
    if (!rows.has(event.id)) {
      rows.set(event.id, makeRow(event));
    }
    return rows.get(event.id);
  });
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
  }
}

isFiltered.addEventListener('change', drawLog);
