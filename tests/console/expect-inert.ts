import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** A text whose markup must stay text. A dialog is a problem of the watched page. */
export const markup = (place: string): string =>
  `<img src=x onerror=alert('${place}')><script>alert('${place}')</script>`;

/** Nothing of a text has become an element, a link or a style. */
export async function expectInert(page: Page): Promise<void> {
  expect(
    await page.locator('#root img[src="x"], #root script, #root [onerror], #root a[href^="javascript" i]').count(),
  ).toBe(0);
  expect(await page.title()).not.toContain('\u202E');
}
