import type { Page } from 'playwright-core';

export const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent');

/** Presses Tab until the element with this text has the focus. */
export async function tabTo(page: Page, text: string): Promise<void> {
  for (let press = 0; press < 80; press++) {
    await page.keyboard.press('Tab');
    if ((await focused(page)).trim() === text) return;
  }
  throw new Error(`no Tab reaches ${text}`);
}
