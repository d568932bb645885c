// SPDX-License-Identifier: Apache-2.0
// main.js: puts the page together: what has changed is drawn, and nothing else.
import { formatDuration, setText } from './format.js';
import { connect, known, onChange } from './feed.js';
import { onMove } from './address.js';
import { drawAlarms, drawSites, drawSummary } from './sites.js';
import { drawFilters, drawLeases, drawLeaseTimes, redrawLeases, startLeases } from './leases.js';
import { drawLog } from './log.js';
import { drawChartChoice, drawCharts, moveCharts, refreshCharts } from './charts.js';
import { drawLease, drawLeaseClock, showLease } from './lease.js';
import { drawSite, drawSiteClock, showSite } from './site.js';
import { drawPoolCharts, drawPools, movePools } from './pools.js';
import { drawSign } from './admin.js';
import { startTips } from './tips.js';

const main = document.getElementById('main');
const link = document.getElementById('link');

function drawLink() {
  const isGone = !known.isLive && known.goneSince !== null;
  link.dataset.state = known.isLive ? 'live' : isGone ? 'gone' : 'wait';
  setText(link, known.isLive ? (known.about?.role === 'standby' ? 'standby' : 'live') : isGone
    ? `broker gone for ${formatDuration((Date.now() - known.goneSince) / 1000)}` : 'connecting');
  main.classList.toggle('stale', isGone);
  document.title = isGone ? 'Sublet: broker gone' : 'Sublet';
}

onChange((what) => {
  if (what.link) {
    drawLink();
    drawSign();
    if (known.about !== null) {
      setText(document.getElementById('version'), `Sublet ${known.about.version}`);
    }
  }
  if (what.all) {
    drawFilters();
    drawLeases();
    drawChartChoice();
    drawCharts();
    showLease();
    showSite();
  } else if (what.leases.size > 0) {
    drawFilters();
    redrawLeases(what.leases);
  }
  if (what.all || what.sites.size > 0 || what.leases.size > 0) {
    drawSites();
    drawSummary();
    drawLease();
    drawSite();
  }
  if (what.all || what.events) {
    drawLog();
  }
  drawAlarms();
  drawPools();
});

onMove((view) => {
  drawFilters(view);
  drawLeases(view);
  drawChartChoice(view);
  moveCharts(view);
  drawLog();
  movePools();
  showLease(view);
  showSite(view);
});

setInterval(() => {
  if (document.hidden) {
    return;
  }
  if (!known.isLive) {
    drawLink();
  }
  drawLeaseTimes();
  drawLeaseClock();
  drawSiteClock();
  drawAlarms();
  refreshCharts();
  drawPools();
}, 1000);

// ---- light and dark

const theme = document.getElementById('theme');
const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
function drawTheme() {
  setText(theme, isDark() ? 'Light' : 'Dark');
  theme.setAttribute('aria-label', isDark() ? 'Switch to the light theme' : 'Switch to the dark theme');
}
theme.addEventListener('click', () => {
  const chosen = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem('sublet-theme', chosen);
  } catch { /* for this page only, then */ }
  drawTheme();
  drawCharts();
  drawPoolCharts();
});
system.addEventListener('change', () => {
  drawTheme();
  drawCharts();
  drawPoolCharts();
});

drawTheme();
startLeases();
startTips();
connect();
