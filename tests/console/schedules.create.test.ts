import { expect, test } from 'vitest';
import { checkAccess } from './check-access.ts';
import { expectInert, markup } from './expect-inert.ts';
import { tabTo } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();
const run = { plan: { groups: [{ steps: [{ tool: 'write_file', args: { path: 'a.txt', content: 'x' } }] }] } };

withBrowser('the pages of schedules', () => {
  test('a schedule is shown, run now by keyboard, paused and resumed', async () => {
    const empty = await it.open('/schedules');
    await empty.getByText('No schedule yet').waitFor();
    await checkAccess(empty);
    await it.client.putSchedule('nightly', { cron: '0 3 * * *', zone: 'Europe/Berlin', note: markup('note'), run });
    const page = await it.open('/schedules');
    await page.getByText("<img src=x onerror=alert('note')>").waitFor();
    await expectInert(page);
    await checkAccess(page);
    await page.getByRole('link', { name: 'nightly', exact: true }).click();
    await page.getByText('None yet.').waitFor();
    await checkAccess(page);
    await tabTo(page, 'Run now');
    await page.keyboard.press('Enter');
    await page.getByText('triggered', { exact: true }).waitFor({ timeout: 30_000 });
    const [made] = await it.client.listOccurrences('nightly');
    expect(await page.getByRole('link', { name: made?.run_id ?? '', exact: true }).count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('It is paused').waitFor();
    expect((await it.client.getSchedule('nightly')).paused).toMatchObject({ by: 'ann' });
    await checkAccess(page);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('active', { exact: true }).waitFor();
    expect((await it.client.getSchedule('nightly')).status).toBe('active');
    await it.client.deleteSchedule('nightly');
  });

  test('a key that may only read sees why it cannot act, and an unknown name is said', async () => {
    await it.client.putSchedule('nightly', { cron: '0 3 * * *', run });
    const { key } = await it.client.createKey({
      name: 'reader',
      kind: 'person',
      scopes: ['schedules:read', 'runs:read', 'approvals:read'],
    });
    const page = await it.open('/schedules/nightly', { key });
    const button = page.getByRole('button', { name: /^Run now/ });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await checkAccess(page);
    const missing = await it.open('/schedules/none', { expected: [/status of 404/] });
    await missing.getByText('none').first().waitFor();
    await it.client.deleteSchedule('nightly');
  });
});
