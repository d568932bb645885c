// SPDX-License-Identifier: Apache-2.0
// theme.js: the theme that was chosen, before anything is drawn.
'use strict';
{
  let chosen = null;
  try {
    chosen = localStorage.getItem('sublet-theme');
  } catch { /* not kept: follow the system */ }
  if (chosen === 'dark' || chosen === 'light') {
    document.documentElement.dataset.theme = chosen;
  }
}
