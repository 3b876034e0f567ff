import { expect, test } from 'vitest';
import { allowBash, bash, plan } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { focused, tabTo } from './tab-to.ts';
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
});
