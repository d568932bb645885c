// SPDX-License-Identifier: Apache-2.0
// tips.js: what a word or a colour means. Elements have their tip in `data-tip`; one
// element shows it, for the mouse and for the keyboard, also above an open dialog. Escape
// hides it. A list with `data-tips` is one stop of Tab; arrow keys go through its items.
import { setText } from './format.js';

const LEAVE_MS = 150; // so that the mouse can go from a word to its tip
const MARGIN = 8;
const tip = document.getElementById('tip');
let shownFor = null;
let leaving = 0;

function place(anchor) {
  const box = anchor.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const below = box.bottom + MARGIN;
  const top = below + height <= innerHeight ? below : Math.max(MARGIN, box.top - height - MARGIN);
  const left = Math.max(MARGIN, Math.min(box.left, innerWidth - width - MARGIN));
  tip.style.top = `${top}px`;
  tip.style.left = `${left}px`;
}

function hide() {
  clearTimeout(leaving);
  if (shownFor === null) {
    return;
  }
  shownFor.removeAttribute('aria-describedby');
  shownFor = null;
  tip.hidePopover();
}

// `described` is what has the focus or is pointed at; the tip may be of what it is in.
function show(described) {
  const owner = described.closest?.('[data-tip]') ?? null;
  clearTimeout(leaving);
  if (owner === null || owner.dataset.tip === '') {
    hide();
    return;
  }
  if (shownFor !== null && shownFor !== described) {
    hide();
  }
  shownFor = described;
  setText(tip, owner.dataset.tip);
  if (!tip.matches(':popover-open')) {
    tip.showPopover();
  }
  described.setAttribute('aria-describedby', 'tip');
  place(described);
}

function leaveSoon() {
  clearTimeout(leaving);
  leaving = setTimeout(hide, LEAVE_MS);
}

// ---- lists whose items have tips

function moveWithin(list, key) {
  const items = [...list.querySelectorAll('[data-tip]')];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0,
    End: items.length - 1 }[key];
  if (at < 0 || to === undefined) {
    return false;
  }
  const next = items[(to + items.length) % items.length];
  items.forEach((item) => item.setAttribute('tabindex', item === next ? '0' : '-1'));
  next.focus();
  return true;
}

export function startTips() {
  for (const list of document.querySelectorAll('[data-tips]')) {
    list.querySelectorAll('[data-tip]').forEach((item, i) => item.setAttribute('tabindex', i === 0 ? '0' : '-1'));
    list.addEventListener('keydown', (event) => {
      if (moveWithin(list, event.key)) {
        event.preventDefault();
      }
    });
  }
  document.addEventListener('focusin', (event) => {
    // A click focuses too; the pointer has shown its tip then.
    if (event.target.matches(':focus-visible')) {
      show(event.target);
    } else if (!event.target.closest('[data-tip]')) {
      hide();
    }
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('pointerover', (event) => {
    const owner = event.target.closest?.('[data-tip]') ?? null;
    if (tip.contains(event.target) || owner === shownFor) {
      clearTimeout(leaving);
    } else if (owner !== null) {
      show(owner);
    } else if (shownFor !== null && shownFor !== document.activeElement) {
      leaveSoon();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && shownFor !== null) {
      hide();
      event.preventDefault(); // a dialog stays open for this one
    }
  }, true);
  addEventListener('scroll', (event) => {
    if (event.target === document && shownFor !== null) {
      place(shownFor);
    }
  }, { capture: true, passive: true });
}
