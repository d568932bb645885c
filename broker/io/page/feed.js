// SPDX-License-Identifier: Apache-2.0
// feed.js: what the page knows: leases, sites and events as the broker has them, kept
// up to date by its stream; a standby, which has no stream, is asked again and again. When
// the broker is gone it says so, keeps what was known, and asks again until it is back.
import { setClock } from './format.js';

const EVENTS_MAX = 200;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
// The broker sends `beat` after 15 s without other events, looking every 5 s: two are missing.
const SILENCE_MS = 35000;
const LOOK_MS = 5000;
const PATIENCE_MS = 8000;
const FOLLOW_MS = 5000;

export const known = {
  leases: new Map(),
  sites: new Map(),
  events: [],       // the latest, newest first
  about: null,
  isLive: false,
  goneSince: null,  // when the broker was last heard, while it is gone
};

const listeners = [];
export function onChange(listener) {
  listeners.push(listener);
}

// What has changed since the last frame: drawn together.
let changed = null;
function note(kind, id) {
  if (changed === null) {
    changed = { leases: new Set(), sites: new Set(), events: false, link: false, all: false };
    // A page in the background is drawn when it is looked at, but not by frames.
    (document.hidden ? (fn) => setTimeout(fn, 500) : requestAnimationFrame)(() => {
      const what = changed;
      changed = null;
      for (const listener of listeners) {
        listener(what);
      }
    });
  }
  if (kind === 'leases' || kind === 'sites') {
    changed[kind].add(id);
  } else {
    changed[kind] = true;
  }
}

export async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
  const answer = await response.json();
  if (!response.ok) {
    const error = new Error(answer.error?.message ?? response.statusText);
    error.status = response.status;
    throw error;
  }
  return answer;
}

async function askAll(path, name) {
  const rows = [];
  let next = '';
  do {
    const page = await ask(`${path}${path.includes('?') ? '&' : '?'}limit=500&after=${encodeURIComponent(next ?? '')}`);
    rows.push(...page[name]);
    next = page.next;
  } while (next);
  return rows;
}

// The latest so many rows, oldest first: an answer has no more of them than a page takes,
// and says where the next one begins.
export async function askLast(path, name, count) {
  const rows = [];
  let page = await ask(`${path}?last=${count}`);
  rows.push(...page[name]);
  while (page.next) {
    page = await ask(`${path}?after=${encodeURIComponent(page.next)}`);
    rows.push(...page[name]);
  }
  return rows;
}

// ---- rows

function takeLease(row) {
  known.leases.set(row.id, row);
  note('leases', row.id);
}

function takeSite(row) {
  known.sites.set(row.site, row);
  note('sites', row.site);
}

function takeEvent(row) {
  if (known.events.length > 0 && row.id <= known.events[0].id) {
    return;
  }
  known.events.unshift(row);
  known.events.length = Math.min(known.events.length, EVENTS_MAX);
  note('events');
}

const takers = { lease: takeLease, site: takeSite, event: takeEvent };

// ---- the stream

let source = null;
let held = null;   // messages that come while the listings are read
let tries = 0;
let heardAt = 0;
let generation = 0;
let isRetrying = false;

function lastEvent() {
  return known.events.length > 0 ? known.events[0].id : null;
}

function close() {
  if (source !== null) {
    source.close();
    source = null;
  }
  generation++;
}

function gone() {
  close();
  if (known.isLive || known.goneSince === null) {
    known.goneSince = Date.now();
  }
  known.isLive = false;
  note('link');
  // A stream and a listing that fail together are one failure.
  if (!isRetrying) {
    isRetrying = true;
    setTimeout(connect, RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
  }
}

// The listings, and then what the stream has said meanwhile: it is not older than what
// it was made from, and what it missed comes with the stream's next round.
async function load() {
  const mine = generation;
  const [about, leases, ended, sites, events] = await Promise.all([
    ask('/api/v1/about'), askAll('/api/v1/leases', 'leases'), askAll('/api/v1/leases?state=ended', 'leases'), askAll('/api/v1/sites', 'sites'),
    askLast('/api/v1/events', 'events', EVENTS_MAX)]);
  if (mine !== generation) {
    return;
  }
  known.about.user = about.user; // for whom a proxy sends the requests
  known.about.actions = about.actions;
  known.leases = new Map([...ended, ...leases].map((row) => [row.id, row]));
  known.sites = new Map(sites.map((row) => [row.site, row]));
  known.events = events.reverse();
  const waiting = held;
  held = null;
  for (const [kind, row] of waiting) {
    takers[kind](row);
  }
  known.isLive = true;
  known.goneSince = null;
  tries = 0;
  note('all');
  note('link');
}

async function follow() {
  const about = await ask('/api/v1/about');
  if (about.role !== 'standby') {
    throw new Error('this broker has a stream');
  }
  known.about = about;
  setClock(about.now_at);
  held = [];
  await load();
  setTimeout(() => follow().catch(gone), FOLLOW_MS);
}

export function connect() {
  const after = lastEvent();
  isRetrying = false;
  held = [];
  source = new EventSource(`/api/v1/stream${after !== null ? `?after=${after}` : ''}`);
  heardAt = Date.now();
  source.addEventListener('hello', (message) => {
    heardAt = Date.now();
    known.about = JSON.parse(message.data);
    setClock(known.about.now_at);
    load().catch(gone);
  });
  for (const kind of Object.keys(takers)) {
    source.addEventListener(kind, (message) => {
      heardAt = Date.now();
      const row = JSON.parse(message.data);
      if (held !== null) {
        held.push([kind, row]);
      } else {
        takers[kind](row);
      }
    });
  }
  source.addEventListener('beat', () => {
    heardAt = Date.now();
  });
  source.onerror = () => {
    close();
    follow().catch(gone);
  };
}

// A network, or a proxy, that swallows everything ends no connection.
setInterval(() => {
  if (source !== null && Date.now() - heardAt > SILENCE_MS) {
    gone();
  }
}, LOOK_MS);
