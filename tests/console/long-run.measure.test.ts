import { expect, test } from 'vitest';
import { plan } from '../harness/runs.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();
const groups = 200;
const each = 50;
const total = groups * each;
const mostRows = 150;
const mostHeapBytes = 60 * 1024 * 1024;

withBrowser('a run of 10,000 steps', () => {
  test('has the rows of the screen alone, wherever it is scrolled to', { timeout: 600_000 }, async () => {
    const group = Array.from({ length: each }, () => ({ tool: 'list_directory', args: { path: '.' } }));
    const { run } = await console.client.createRun({
      title: 'Many steps',
      limits: { max_steps: total },
      plan: plan(...Array.from({ length: groups }, () => group)),
    });
    await console.client.waitForRun(run.id, { signal: AbortSignal.timeout(540_000) });
    const page = await console.open(`/runs/${run.id}`);
    const rows = page.locator('.timeline-item');
    await page.locator('.step-row').first().waitFor();
    expect(await rows.count()).toBeLessThanOrEqual(mostRows);
    await page.getByText('10,000 steps', { exact: true }).waitFor();
    await page.keyboard.press('End');
    await page.locator('.step-number', { hasText: /^10000$/ }).waitFor();
    expect(await rows.count()).toBeLessThanOrEqual(mostRows);
    const debug = await page.context().newCDPSession(page);
    await debug.send('HeapProfiler.collectGarbage');
    const { usedSize } = await debug.send('Runtime.getHeapUsage');
    expect(usedSize).toBeLessThanOrEqual(mostHeapBytes);
  });
});
