import type { Page } from 'playwright-core';

export const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent');

/** Presses Tab until the element with this text has the focus. */
export const tabTo = (page: Page, text: string): Promise<void> => tabUntil(page, text, () => focused(page));

/** The same for a field, by its label. */
export const tabToField = (page: Page, label: string): Promise<void> =>
  tabUntil(page, label, () => page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? ""'));

async function tabUntil(page: Page, wanted: string, present: () => Promise<string>): Promise<void> {
  for (let press = 0; press < 80; press++) {
    await page.keyboard.press('Tab');
    if ((await present()).trim() === wanted) return;
  }
  throw new Error(`no Tab reaches ${wanted}`);
}
