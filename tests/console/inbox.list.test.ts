import { expect, test } from 'vitest';
import { plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();

async function hold(title: string, tool: string, args: Record<string, string>, expires_s: number): Promise<string> {
  const rules = [{ match: { tool }, action: 'hold' as const, expires_s }];
  const { run } = await it.client.createRun({ title, plan: plan([{ tool, args }]), policy: { rules } });
  await expect.poll(async () => (await it.client.listApprovals({ run_id: run.id })).data.length).toBe(1);
  return run.id;
}

withBrowser('the inbox and the runs', () => {
  test('what expires first stands first, calls of one tool are rejected together, and the decided ones are found', async () => {
    await hold('Later', 'write_file', { path: 'later.txt', content: 'x' }, 9000);
    await hold('Other tool', 'bash', { command: 'true' }, 8000);
    await hold('Soon', 'write_file', { path: 'soon.txt', content: 'x' }, 3000);
    const page = await it.open('/approvals');
    const rows = page.getByRole('listitem').filter({ has: page.locator('[data-row]') });
    await expect.poll(() => rows.count()).toBe(3);
    expect(await page.locator('.line-call').allTextContents()).toEqual(['soon.txt', 'true', 'later.txt']);
    await page.getByLabel('Choose write_file of Soon').check();
    expect(await page.getByLabel('Choose bash of Other tool').isDisabled()).toBe(true);
    await page.getByLabel('Choose write_file of Later').check();
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByLabel('Why?').fill('Both are wrong');
    await checkAccess(page);
    await page.getByRole('button', { name: 'Reject all' }).click();
    await expect.poll(() => page.getByRole('dialog').getByText('rejected', { exact: true }).count()).toBe(2);
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.locator('.line-call').allTextContents()).toEqual(['true']);
    await page.getByRole('button', { name: 'Decided' }).click();
    await page.getByRole('button', { name: 'rejected' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(new URL(page.url()).search).toBe('?show=decided&status=rejected');
    await checkAccess(page);
  });

  test('runs are found by title, and the filters stand in the address', async () => {
    const ids: string[] = [];
    for (const title of ['Apple tree', 'Pear tree']) ids.push(await hold(title, 'bash', { command: 'true' }, 9000));
    const page = await it.open('/runs');
    await page.getByRole('link', { name: 'Apple tree' }).waitFor();
    await checkAccess(page);
    await page.getByLabel('Title').fill('pear');
    await page.getByRole('link', { name: 'Apple tree' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?title=pear');
    await page.getByLabel('Choose Pear tree').check();
    await page.getByRole('button', { name: 'Cancel them' }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(async () => (await it.client.getRun(ids[1] ?? '')).status).toBe('canceled');
    // The list learns of the end by the stream.
    await page.locator('.line').getByText('canceled').waitFor();
  });

  test('a new run shows the mistakes of the API at their fields, and then starts', async () => {
    const page = await it.open('/new', { expected: [/status of 422/] });
    await page.getByRole('heading', { name: 'New run' }).waitFor();
    await checkAccess(page);
    await page.getByRole('button', { name: 'A plan of calls' }).click();
    await page.getByLabel('Plan', { exact: true }).fill('{"groups": [{"steps": [{"tool": "no_such_tool"}]}]}');
    await page.getByRole('button', { name: 'Submit the run' }).click();
    await page.locator('.field').filter({ hasText: 'no_such_tool' }).first().waitFor();
    await page.getByLabel('Title').fill('From the page');
    await page
      .getByLabel('Plan', { exact: true })
      .fill('{"groups": [{"steps": [{"tool": "bash", "args": {"command": "echo from the page"}}]}]}');
    await page.getByRole('button', { name: 'Submit the run' }).click();
    await page.getByRole('heading', { name: 'From the page' }).waitFor();
  });

  test('an unknown id and an unknown address say so, with a way back', async () => {
    const page = await it.open('/approvals/apr_00000000-0000-7000-8000-000000000000', { expected: [/status of 404/] });
    await page.getByRole('heading', { name: 'There is no such approval' }).waitFor();
    await checkAccess(page);
    await page.getByRole('link', { name: 'To the runs' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.goto('/nowhere/at-all');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  });
});
