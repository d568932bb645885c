// SPDX-License-Identifier: Apache-2.0
// address.js: what is shown stands in the address, so that a view can be sent to a
// colleague, and Back goes back.

const NAMES = ['q', 'provider', 'consumer', 'state', 'sort', 'lease', 'overview', 'site', 'span', 'zoom', 'node'];
const listeners = [];

export function read() {
  const parameters = new URLSearchParams(location.search);
  return Object.fromEntries(NAMES.map((name) => [name, parameters.get(name) ?? '']));
}

// `isStep`: one that Back undoes.
export function write(change, isStep = false) {
  const view = { ...read(), ...change };
  const parameters = new URLSearchParams();
  for (const name of NAMES) {
    if (view[name]) {
      parameters.set(name, view[name]);
    }
  }
  const query = parameters.toString().replaceAll('%2F', '/');
  const target = query ? `?${query}` : location.pathname;
  if (target !== location.search) {
    history[isStep ? 'pushState' : 'replaceState'](null, '', target);
  }
  tell();
}

export function onMove(listener) {
  listeners.push(listener);
}

function tell() {
  const view = read();
  for (const listener of listeners) {
    listener(view);
  }
}

addEventListener('popstate', tell);
