// SPDX-License-Identifier: Apache-2.0
// format.js: how numbers, times and elements are written. All texts go in as text:
// nothing here, or anywhere, is made of HTML.

// An element: el('p', {class: 'note', onclick: fn}, 'text', child, ...).
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      made.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Writes only what differs, so that nothing is laid out anew for nothing.
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

export function setClass(element, name) {
  if (element.className !== name) {
    element.className = name;
  }
}

export function setLabel(element, text) {
  if (element.getAttribute('aria-label') !== text) {
    element.setAttribute('aria-label', text);
    element.dataset.tip = text;
  }
}

// Puts `wanted` into `parent` in that order, moving as little as possible; who had the
// focus keeps it.
export function setChildren(parent, wanted) {
  const focused = document.activeElement;
  let at = parent.firstChild;
  for (const child of wanted) {
    if (child === at) {
      at = at.nextSibling;
    } else {
      parent.insertBefore(child, at);
    }
  }
  while (at !== null) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
  if (focused !== document.activeElement && focused?.isConnected) {
    focused.focus({ preventScroll: true });
  }
}

export function plural(count, one, many = one + 's') {
  return `${count} ${count === 1 ? one : many}`;
}

// 93 -> "1m 33s", as people read it: two units at most.
export function formatDuration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const units = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];
  const first = units.findIndex(([, size]) => whole >= size);
  if (first < 0) {
    return '0s';
  }
  const parts = [];
  let left = whole;
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) {
      parts.push(`${count}${name}`);
    }
  }
  return parts.join(' ');
}

// 0.5 -> "0.5s", 600 -> "10m": as it would be typed.
export function formatDelay(seconds) {
  if (seconds === null || seconds === undefined) {
    return '-';
  }
  return Number.isInteger(seconds) ? formatDuration(seconds) : `${seconds}s`;
}

// The browser's clock may be wrong: ages go by the broker's.
let ahead = 0;
export function setClock(brokerNow) {
  ahead = Date.parse(brokerNow) - Date.now();
}
export function now() {
  return Date.now() + ahead;
}

export function formatAge(instant) {
  return instant === null ? '-' : `${formatDuration((now() - Date.parse(instant)) / 1000)} ago`;
}

export function formatCountdown(instant) {
  if (instant === null) {
    return '-';
  }
  const left = (Date.parse(instant) - now()) / 1000;
  return left <= 0 ? 'due' : `in ${formatDuration(Math.ceil(left))}`;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat(undefined, {
  month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
  hour12: false });
export function formatClock(instant) {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) {
    return '-'; // later than any date
  }
  return at.toDateString() === new Date(now()).toDateString() ? clock.format(at) : day.format(at);
}

// A bar of parts [class, count, what it is]; counts too small for their number hide it.
export function fillBar(bar, parts, label) {
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  while (bar.children.length < parts.length) {
    bar.append(document.createElement('b'));
  }
  parts.forEach(([name, count], i) => {
    const part = bar.children[i];
    setClass(part, name);
    const grow = String(count);
    if (part.style.flexGrow !== grow) {
      part.style.flexGrow = grow;
      part.style.flexBasis = '0';
    }
    part.hidden = count === 0;
    setText(part, count > 0 && count / total > 0.04 ? String(count) : '');
  });
  bar.setAttribute('role', 'img');
  setLabel(bar, label);
  return total;
}

// Saves rows as a file: a cell that a spreadsheet would take for a formula begins with '.
export function saveCsv(name, rows) {
  const cell = (value) => {
    const text = String(value ?? '');
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const text = rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
  const link = el('a', { download: name, href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// An object of the API as a flat one: {slots: {own: 4}} -> {slots_own: 4}.
function flatten(object, prefix = '') {
  return Object.entries(object).reduce((flat, [name, value]) => Object.assign(flat,
    value !== null && typeof value === 'object' && !Array.isArray(value) ? flatten(value, `${prefix}${name}_`)
      : { [prefix + name]: Array.isArray(value) ? value.join(' ') : value }), {});
}

// Saves objects of the API under the names of their fields.
export function saveObjects(name, objects) {
  const flat = objects.map((object) => flatten(object));
  const columns = [...new Set(flat.flatMap((object) => Object.keys(object)))];
  saveCsv(name, [columns, ...flat.map((object) => columns.map((column) => object[column]))]);
}

// A button that saves what `objects()` has; `what` completes "CSV of ...".
export function makeCsvButton(what, name, objects) {
  return el('button', { type: 'button', class: 'csv', 'aria-label': `CSV of ${what}`,
    'data-tip': `Save ${what}, as comma-separated values`, onclick: () => saveObjects(name, objects()) }, 'CSV');
}

// A lease's id as a path: the node of a pool's leaf has slashes of its own.
export function leasePath(id) {
  const [provider, policy, ...consumer] = id.split('/');
  return `${provider}/${policy}/${encodeURIComponent(consumer.join('/'))}`;
}
