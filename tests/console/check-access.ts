import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 AA by axe, in both themes, on a phone and on a wide screen. The script comes through the debugger, so the content policy stays in force. */
export async function checkAccess(page: Page): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  const size = page.viewportSize();
  for (const width of [1280, 360]) {
    // So tall that the navigation at the lower edge covers nothing.
    await page.setViewportSize({ width, height: 3000 });
    // A long list measures its rows at the new width, and places them in a later frame.
    await page.evaluate(untilPlaced);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await debug.send('Runtime.evaluate', { expression: source });
      const found = await debug.send('Runtime.evaluate', { expression: run, awaitPromise: true, returnByValue: true });
      const { violations } = found.result.value as AxeResults;
      const named = violations.map(({ id, nodes }) => ({
        id,
        where: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
      }));
      expect(named, `${page.url()} at ${width} px, ${colorScheme}`).toEqual([]);
    }
    await expectNoOverflow(page, width);
  }
  if (size !== null) await page.setViewportSize(size);
  await debug.detach();
}

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const run = `axe.run(document, ${JSON.stringify({ preload: false, resultTypes: ['violations'], runOnly: { type: 'tag', values: tags } })})`;

/** Until the rows of long lists have stood still for five frames. */
const untilPlaced = `new Promise((resolve, reject) => {
  const places = () => [...document.querySelectorAll('[data-index]')].map((element) => element.getBoundingClientRect().top).join();
  const deadline = performance.now() + 10_000;
  const look = (before, same) => {
    const now = places();
    if (now === before && same === 5) return resolve();
    if (performance.now() > deadline) return reject(new Error('the rows move without end'));
    requestAnimationFrame(() => look(now, now === before ? same + 1 : 0));
  };
  look('', 0);
})`;

/** Only parts of the page may scroll sideways, never the page. */
async function expectNoOverflow(page: Page, width: number): Promise<void> {
  const overflow = await page.evaluate<number>(beyondTheEdge);
  expect(overflow, `${page.url()} is wider than ${width} px`).toBeLessThanOrEqual(0);
}

const beyondTheEdge = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
