import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { allowBash, bash, finish, nextApproval, plan } from '../harness/runs.ts';
import { startSystem } from '../harness/system.ts';
import { until } from '../harness/until.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const confirm = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name });

/** Lines so far apart that git merges changes of both sides. */
const lines = (changed: Record<number, string> = {}): string =>
  Array.from({ length: 9 }, (_, at) => `${changed[at] ?? `line ${at}`}\n`).join('');
const names = ['run.txt', 'source.txt', 'merged.txt'];

withBrowser('hard decisions', () => {
  test('a conflict shows three versions of each file, is settled file by file, and publishes the choices', async () => {
    const path = mkdtempSync(join(tmpdir(), 'console-conflict-'));
    try {
      for (const name of names) writeFileSync(join(path, name), lines());
      const edits = names.map((name) => ({
        tool: 'write_file',
        args: { path: name, content: lines({ 1: 'of the run', 4: 'run' }) },
      }));
      const run = await finish(console.client, {
        title: 'Conflicts',
        plan: plan([...names.map((name) => ({ tool: 'read_file', args: { path: name } }))], edits),
        workspace: { source: { type: 'directory', path } },
      });
      for (const name of names) writeFileSync(join(path, name), lines({ 4: 'source', 7: 'of the source' }));
      await expect(console.client.publish(run.id)).rejects.toMatchObject({ code: 'publish_conflict' });
      const approval = await nextApproval(console.client, run.id);
      const page = await console.open('/approvals');
      await page.locator(`a[href="/approvals/${approval.id}"]`).click();
      await page.getByRole('heading', { name: 'A publish has conflicts' }).waitFor();
      await checkAccess(page);
      await button(page, 'Settle the conflicts').click();
      await checkAccess(page);
      const send = confirm(page, /^Publish with these/);
      const choices = ['The version of the run', 'The version of the source', /^Merged; the run's lines/];
      for (const [at, name] of names.entries()) {
        expect(await send.getAttribute('aria-disabled')).toBe('true');
        const file = dialog(page).getByRole('group', { name });
        for (const [version, line] of [
          ['When the run began', 'line 7'],
          ['Source', 'of the source'],
          ['Run', 'of the run'],
        ] as const) {
          await file
            .getByRole('region', { name: `${version}: ${name}`, exact: true })
            .getByText(line)
            .waitFor();
        }
        await file.getByLabel(choices[at] ?? '').check();
      }
      await send.click();
      await dialog(page).getByText('Decided').waitFor();
      const published = async () => (await console.client.getRun(run.id)).publication.status;
      await expect.poll(published).toBe('published');
      expect(names.map((name) => readFileSync(join(path, name), 'utf8'))).toEqual([
        lines({ 1: 'of the run', 4: 'run' }),
        lines({ 4: 'source', 7: 'of the source' }),
        lines({ 1: 'of the run', 4: 'run', 7: 'of the source' }),
      ]);
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });

  test('a call that may have taken effect says all that is known, and a person says what happened', async () => {
    await using system = await startSystem();
    const worker = await system.startWorker();
    const { run } = await system.client.createRun({
      title: 'Its worker died',
      policy: { rules: [allowBash] },
      network: { allow: ['example.org'] },
      plan: plan([bash('echo sent; until [ -e never ]; do sleep 0.1; done')]),
    });
    await until('it runs', async () => (await system.client.listSteps(run.id)).data[0]?.status === 'running');
    await worker.signal('SIGKILL');
    await system.startWorker();
    const approval = await nextApproval(system.client, run.id);
    expect(approval.kind).toBe('indeterminate');
    const options = { url: system.api.url(), key: system.key };
    await using context = await console.context(options);
    const page = await console.open(`/approvals/${approval.id}`, { ...options, context });
    await page.getByText('The worker was lost while this call ran').waitFor();
    await page.getByText(/Attempt 1 on .*began/).waitFor();
    await checkAccess(page);
    for (const name of ['Run it again', 'Say what happened', 'Leave it']) await button(page, name).waitFor();
    await button(page, 'Say what happened').click();
    await checkAccess(page);
    await dialog(page).getByLabel('Answer').fill('It was sent once');
    await confirm(page, /^Answer/).click();
    await dialog(page).getByText('Decided').waitFor();
    await system.client.waitForRun(run.id, { signal: AbortSignal.timeout(60_000) });
    const [step] = (await system.client.listSteps(run.id)).data;
    expect((await system.client.getStep(step?.id ?? '')).attempts).toBe(1);
  });
});
