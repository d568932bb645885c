// SPDX-License-Identifier: Apache-2.0
// zoom.js: which part of the time the charts show. It stands in the address: `span`, the
// seconds up to now, and `zoom`, FROM-UNTIL in milliseconds, a part of them that was
// chosen with the mouse or the keyboard.
import { el, now } from './format.js';
import { read, write } from './address.js';

const SPAN_S = 3600;
const LEAST_MS = 60000;   // less than that has no samples to see
const LEAST_DRAG_PX = 6;  // less is a click

export const spanOf = (view = read()) => Number(view.span) || SPAN_S;

// {from, until} in milliseconds, and the seconds up to now that have to be asked for.
export function timeOf(span) {
  const until = now();
  return { from: until - span * 1000, until, span };
}

export function shownTime(view = read()) {
  const all = timeOf(spanOf(view));
  const [from, until] = view.zoom.split('-').map(Number);
  if (!(from < until) || until <= all.from || from >= all.until) {
    return all;
  }
  return { from, until, span: Math.ceil((all.until - from) / 1000) };
}

export const isZoomed = (view = read()) => view.zoom !== '';

// The whole time, if the part is no smaller; a part within it otherwise.
function zoomTo(from, until) {
  const all = timeOf(spanOf());
  const width = Math.max(LEAST_MS, until - from);
  if (width >= all.until - all.from) {
    write({ zoom: '' });
    return;
  }
  const start = Math.max(all.from, Math.min((from + until - width) / 2, all.until - width));
  write({ zoom: `${Math.round(start)}-${Math.round(start + width)}` });
}

// + and - about the middle, arrows a quarter to a side, 0 all.
function onKey(event) {
  const { from, until } = shownTime();
  const width = until - from;
  const targets = {
    '+': [from + width / 4, until - width / 4], '=': [from + width / 4, until - width / 4],
    '-': [from - width / 2, until + width / 2],
    ArrowLeft: [from - width / 4, until - width / 4], ArrowRight: [from + width / 4, until + width / 4],
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in targets || event.key === '0')) {
    return;
  }
  event.preventDefault();
  if (event.key === '0') {
    write({ zoom: '' });
  } else if (isZoomed() || !event.key.startsWith('Arrow')) {
    zoomTo(...targets[event.key]);
  }
}

// `chartOf()` is the chart of the canvas.
export function makeZoomable(canvas, chartOf) {
  const band = el('div', { class: 'band', hidden: true });
  let start = null;
  canvas.after(band);
  canvas.tabIndex = 0;
  canvas.setAttribute('aria-describedby', 'zoom-help');
  const within = (event) => {
    const { left, right } = chartOf().chartArea;
    return Math.max(left, Math.min(right, event.offsetX));
  };
  canvas.addEventListener('keydown', onKey);
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && chartOf() !== undefined) {
      start = within(event);
      canvas.setPointerCapture(event.pointerId);
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    if (start !== null) {
      const at = within(event);
      band.hidden = Math.abs(at - start) < LEAST_DRAG_PX;
      band.style.left = `${Math.min(at, start)}px`;
      band.style.width = `${Math.abs(at - start)}px`;
    }
  });
  canvas.addEventListener('pointerup', (event) => {
    if (start !== null && !band.hidden) {
      const ends = [start, within(event)].sort((a, b) => a - b);
      zoomTo(...ends.map((x) => chartOf().scales.x.getValueForPixel(x)));
    }
    start = null;
    band.hidden = true;
  });
  canvas.addEventListener('pointercancel', () => {
    start = null;
    band.hidden = true;
  });
}
