// SPDX-License-Identifier: Apache-2.0
// driver.mjs: a browser at the other end of a pipe: a JSON object a line in, the answer
// of each out. tests/e2e/browser.py speaks to it.
//
//     node driver.mjs CHROMIUM MODULES
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [chromiumPath, modules] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)('playwright-core');
const browser = await chromium.launch({
  executablePath: chromiumPath,
  // Tests may run as root, in a container with a small /dev/shm.
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});

const PATIENCE_MS = 15000;
let page = null;
let complaints = [];

async function open({ url, width = 1280, height = 900, theme = 'light', login }) {
  await page?.context().close();
  complaints = [];
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, timezoneId: 'UTC',
    httpCredentials: login });
  page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Chromium itself says when a request failed; that is told by the page as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(`console: ${message.text()}`);
    }
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('data:')) {
      complaints.push(`elsewhere: ${request.url()}`);
    }
  });
  await page.goto(url);
}

// By asking again: what the page's policy forbids, a function of playwright's needs.
async function wait({ script }) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await page.evaluate(script))) {
    if (Date.now() > deadline) {
      throw new Error(`waited ${PATIENCE_MS / 1000} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}

const actions = {
  open,
  complaints: () => complaints,
  click: ({ selector }) => page.click(selector),
  fill: ({ selector, text }) => page.fill(selector, text),
  select: ({ selector, value }) => page.selectOption(selector, value),
  press: ({ key }) => page.keyboard.press(key),
  back: () => page.goBack(),
  reload: () => page.reload(),
  evaluate: ({ script }) => page.evaluate(script),
  wait,
  screenshot: ({ path, whole }) => page.screenshot({ path, fullPage: whole }).then(() => true),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { action, ...given } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await actions[action](given)) ?? null };
  } catch (error) {
    answer = { error: String(error.message) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
