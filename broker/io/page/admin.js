// SPDX-License-Identifier: Apache-2.0
// admin.js: what an administrator does from the page: each action says what it will do
// before it does it. The token is kept for this tab only.
import { el, formatClock, formatDelay, formatDuration, leasePath, now, plural, setText } from './format.js';
import { ask, known } from './feed.js';

const KEY = 'sublet-token';
const dialog = document.getElementById('act');
const form = document.getElementById('act-form');
const title = document.getElementById('act-title');
const body = document.getElementById('act-body');
const error = document.getElementById('act-error');
const go = document.getElementById('act-do');
const sign = document.getElementById('sign');
let action = null; // what the button does; throws what is wrong

// ---- the dialog

function open(name, verb, parts, run) {
  setText(title, name);
  setText(go, verb);
  setText(error, '');
  body.replaceChildren(...parts);
  go.disabled = false;
  action = run;
  dialog.showModal();
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  setText(error, '');
  go.disabled = true;
  try {
    await action();
    dialog.close();
  } catch (why) {
    setText(error, why.status === 401 ? `The token is wrong: ${why.message}.` : `Refused: ${why.message}.`);
    if (why.status === 401) {
      keepToken('');
      body.querySelector('[name=token]')?.closest('.field').removeAttribute('hidden');
      body.querySelector('[name=token]')?.focus();
    }
  } finally {
    go.disabled = false;
  }
});
dialog.querySelector('.close').addEventListener('click', () => dialog.close());

// ---- the token

let kept = '';
try {
  kept = sessionStorage.getItem(KEY) ?? '';
} catch { /* none is kept */ }

function keepToken(token) {
  kept = token;
  try {
    sessionStorage.setItem(KEY, token);
  } catch { /* for this page only, then */ }
  setText(sign, kept ? 'Forget token' : 'Token');
}

// A proxy has asked for a login, and adds a token to each request.
function proxyUser() {
  return known.about?.user;
}

function tokenField() {
  if (proxyUser() !== undefined) {
    return el('p', { class: 'sub' }, `You are ${proxyUser()}.`);
  }
  return el('label', { class: 'field', hidden: kept !== '' }, 'Token',
    el('input', { name: 'token', type: 'password', autocomplete: 'off', value: kept, spellcheck: 'false' }),
    el('small', {}, 'One of the file that TOKENS of the Broker section names. Kept until this tab is closed.'));
}

// Visible ASCII is all that a token, and a header, can have.
function takeToken() {
  const token = (body.querySelector('[name=token]')?.value ?? kept).trim();
  if (!/^[!-~]+$/.test(token)) {
    throw new Error(token === '' ? 'a token is needed' : 'a token has no such characters');
  }
  return token;
}

async function change(path, method, content) {
  const text = content === undefined ? undefined : JSON.stringify(content);
  if (proxyUser() !== undefined) {
    return ask(path, { method, body: text });
  }
  const token = takeToken();
  const answer = await ask(path, { method, headers: { Authorization: `Bearer ${token}` }, body: text });
  keepToken(token);
  return answer;
}

sign.addEventListener('click', () => {
  if (kept) {
    keepToken('');
    return;
  }
  open('Token', 'Keep', [tokenField(), el('p', { class: 'sub' },
    'It is sent only with what you do, and judged then.')], async () => keepToken(takeToken()));
});

export function drawSign() {
  sign.hidden = !(known.about?.actions.reclaim_delay ?? false) || proxyUser() !== undefined;
  setText(sign, kept ? 'Forget token' : 'Token');
}

// ---- the reclaim delay

const UNITS = { s: 1, m: 60, h: 3600, d: 86400 };

// "5m", "90s", "5" (minutes): seconds, null for default, NaN for no delay.
const DELAY_MAX_S = 3650 * UNITS.d;
export function readDelay(text) {
  const word = text.trim().toLowerCase();
  const match = /^(\d+(?:\.\d+)?)\s*([smhd]?)$/.exec(word);
  if (word === 'default') {
    return null;
  }
  return match === null ? NaN : Number(match[1]) * UNITS[match[2] || 'm'];
}

// What is wrong with a delay, in the words of the broker; '' for nothing.
function complainDelay(text) {
  const seconds = readDelay(text);
  if (Number.isNaN(seconds)) {
    return `\u201c${text.trim()}\u201d is no time, expected 90s, 5m, 1h or default`;
  }
  return seconds !== null && (seconds < 1 || seconds > DELAY_MAX_S)
    ? `${text.trim()} is out of bounds, expected 1s to 3650d` : '';
}

function leasesIn(scope, lease) {
  return [...known.leases.values()].filter((other) => other.type === 'shared' &&
    (scope === 'all' || (scope === 'provider' ? other.provider.site === lease.provider.site
      : other.id === lease.id)));
}

// When the lease is judged next: its last time, and the new delay, but not in the past.
function nextAt(lease, seconds) {
  if (lease.next_rebalance_at === null) {
    return null;
  }
  const last = Date.parse(lease.next_rebalance_at) - lease.reclaim_delay_s * 1000;
  return Math.max(now(), last + seconds * 1000);
}

function previewDelay(scope, lease, text) {
  const seconds = readDelay(text);
  const affected = leasesIn(scope, lease);
  const whose = scope === 'lease' ? `lease ${lease.id}` : scope === 'provider'
    ? `the ${plural(affected.length, 'shared lease')} that ${lease.provider.site} provides`
    : `all ${plural(affected.length, 'shared lease')}`;
  const complaint = complainDelay(text);
  if (complaint !== '') {
    return [`Type a time such as 90s, 5m, 1h, or default: ${complaint}.`];
  }
  if (seconds === null) {
    return [`The override for ${whose} is removed. What then counts is the next of: an override for the ` +
      'provider, one for all, the provider\u2019s MC_RECLAIM_DELAY, 10 minutes.'];
  }
  const said = [`Sets the time between two rebalances of ${whose} to ${formatDelay(seconds)}, now, and over restarts.`];
  const next = nextAt(lease, seconds);
  said.push(`This lease: ${formatDelay(lease.reclaim_delay_s)} becomes ${formatDelay(seconds)}` +
    (next === null ? '.' : `; its next rebalance is about ${formatClock(next)} (in ${formatDuration((next - now()) / 1000)}).`));
  if (scope !== 'lease') {
    said.push('A lease with an override of its own keeps that' +
      (scope === 'all' ? ', and so do the leases of a provider with one.' : '.'));
  }
  said.push('No job is stopped: only idle slots move.');
  return said;
}

export function askDelay(lease) {
  const scope = el('select', { name: 'scope' }, el('option', { value: 'lease' }, `this lease, ${lease.id}`),
    el('option', { value: 'provider' }, `all leases of ${lease.provider.site}`), el('option', { value: 'all' }, 'all leases'));
  const value = el('input', { name: 'delay', value: formatDelay(lease.reclaim_delay_s).replace(' ', ''), autocomplete: 'off' });
  const preview = el('div', { class: 'preview', 'aria-live': 'polite' });
  const draw = () => preview.replaceChildren(
    ...previewDelay(scope.value, lease, value.value).map((text) => el('p', {}, text)));
  scope.addEventListener('change', draw);
  value.addEventListener('input', draw);
  draw();
  open('Set the reclaim delay', 'Set', [
    el('label', { class: 'field' }, 'Of', scope),
    el('label', { class: 'field' }, 'Reclaim delay', value, el('small', {}, 'As 90s, 5m, 1h; a bare number is minutes; default removes the override.')),
    preview, tokenField()], async () => {
    const complaint = complainDelay(value.value);
    if (complaint !== '') {
      value.focus();
      throw new Error(`the reclaim delay: ${complaint}`);
    }
    const seconds = readDelay(value.value);
    await change('/api/v1/reclaim-delay', 'PUT', { delay_s: seconds,
      ...(scope.value === 'lease' ? { lease: lease.id } : scope.value === 'provider' ? { provider: lease.provider.site } : {}) });
  });
}

// ---- a rebalance now

export function askRebalance(lease) {
  open('Rebalance the lease', 'Rebalance', [el('div', { class: 'preview' },
    el('p', {}, `The rebalance rule is applied to ${lease.id} at once. Idle slots change sides if the rule calls for it. No job is stopped.`),
    el('p', {}, lease.next_rebalance_at === null ? 'Regular rebalances are not changed.'
      : `The next regular rebalance stays at ${formatClock(lease.next_rebalance_at)}.`)), tokenField()],
  () => change(`/api/v1/leases/${leasePath(lease.id)}/rebalance`, 'POST', {}));
}

// ---- draining

export function askDrain(lease) {
  const used = lease.consumer.used;
  open('Drain the lease', 'Drain', [el('div', { class: 'preview' },
    el('p', {}, `From now on nothing new starts on ${lease.id}, from either side.`),
    el('p', {}, used === 0 ? `All ${lease.consumer.available} slots of ${lease.consumer.site} return to the provider at once.`
      : `${plural(lease.consumer.available - used, 'idle slot')} of ${lease.consumer.site} return to the provider at once; ` +
        `${plural(used, 'slot')} in use when ${used === 1 ? 'its job ends' : 'their jobs end'}. No job is stopped.`),
    el('p', {}, 'The lease ends when the last slot is home.')), tokenField()],
  () => change(`/api/v1/leases/${leasePath(lease.id)}/drain`, 'POST', {}));
}

export function askResume(lease) {
  open('Resume the lease', 'Resume', [el('div', { class: 'preview' },
    el('p', {}, `${lease.id} is lent again: its slots are shared as they were before the drain.`),
    el('p', {}, lease.state === 'ended' ? 'It is made anew with the consumer\u2019s next job.'
      : 'Slots that have not yet returned stay where they are.')), tokenField()],
  () => change(`/api/v1/leases/${leasePath(lease.id)}/resume`, 'POST', {}));
}
