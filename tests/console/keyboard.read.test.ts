import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { allowBash, bash, plan } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { focused, tabTo, tabToField } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

withBrowser('the keyboard alone', () => {
  test('pauses a run, leaves a dialog without a trace, and cancels the run', async () => {
    const { run } = await console.client.createRun({
      title: 'Without a pointer',
      policy: { rules: [allowBash] },
      plan: plan([bash('until [ -e never ]; do sleep 0.1; done')]),
    });
    await until('the run is under way', async () => (await console.client.getRun(run.id)).status === 'running');
    const page = await console.open(`/runs/${run.id}`);
    await page.getByRole('heading', { name: 'Without a pointer' }).waitFor();
    await tabTo(page, 'To the content');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Pause');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Pause');
    expect((await console.client.getRun(run.id)).status).toBe('running');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.locator('.run-title').getByText('paused').waitFor();
    await tabTo(page, 'Cancel');
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').waitFor();
    await page.keyboard.press('Tab');
    await page.getByLabel('Reason').fill('enough');
    await page.keyboard.press('Control+Enter');
    await page.locator('.run-title').getByText('canceled').waitFor();
  });

  test('makes a key, keeps its text, rotates it and revokes it', async () => {
    const page = await console.open('/keys');
    await page.getByRole('region', { name: 'Keys of the tenant' }).getByText('yours').waitFor();
    await tabTo(page, 'New key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await tabTo(page, 'A service');
    await page.keyboard.press('Space');
    await tabToField(page, 'Name');
    await page.keyboard.type('typed');
    await tabToField(page, 'runs:read');
    await page.keyboard.press('Space');
    await tabToField(page, 'Expires after days');
    await page.keyboard.type('3');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByText('It is shown this once').waitFor();
    await tabTo(page, 'I have kept it');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('New key');
    const [made] = (await console.client.listKeys()).data.filter(({ name }) => name === 'typed');
    expect(made).toMatchObject({ kind: 'service', scopes: ['runs:read'], expires_at: expect.any(String) });
    await tabTo(page, 'Rotate typed');
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog')
      .getByLabel(/stays valid/)
      .waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByText('It is shown this once').waitFor();
    await page.keyboard.press('Escape');
    await tabTo(page, 'I have kept it');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Rotate typed');
    await tabTo(page, 'Revoke typed');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Revoke typed');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByText('revoked', { exact: true }).waitFor();
  });

  test('verifies the audit log, finds a record and exports what is shown', async () => {
    const context = await console.context({ key: inject('console')?.key ?? '' });
    const page = await console.open('/audit', { context });
    const records = page.getByRole('list', { name: 'Records, the last first' });
    await records.waitFor();
    await tabToField(page, 'A head that you kept');
    await page.keyboard.press('Enter');
    await page.getByText('Everything is as it was sealed').waitFor();
    await tabTo(page, 'Show the head');
    await page.keyboard.press('Enter');
    await page.getByText('The last record. Keep it elsewhere').waitFor();
    await tabTo(page, 'change');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'change', pressed: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('kind')).toBe('change');
    await records.locator('summary').first().waitFor();
    for (let press = 0; press < 40 && !(await inRecords()); press++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await records.locator('details[open]').first().waitFor();
    for (let press = 0; press < 40 && (await focused(page)) !== 'Export'; press++)
      await page.keyboard.press('Shift+Tab');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    const [first = ''] = readFileSync(await download.path(), 'utf8').split('\n');
    expect(JSON.parse(first)).toMatchObject({ kind: 'change' });

    function inRecords(): Promise<boolean> {
      return page.evaluate<boolean>('document.activeElement.matches("ol summary")');
    }
  });
});
