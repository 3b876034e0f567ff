import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finished, plan } from '../harness/runs.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

withBrowser('the way from a login to a publish', () => {
  test('a person logs in, approves a call by its diff, and then the publish', async () => {
    const path = mkdtempSync(join(tmpdir(), 'console-source-'));
    try {
      writeFileSync(join(path, 'old.txt'), 'old\n');
      const { run } = await console.client.createRun({
        title: 'Add a file',
        plan: plan([{ tool: 'write_file', args: { path: 'new.txt', content: 'new\n' } }]),
        policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }], publish: 'hold' },
        workspace: { source: { type: 'directory', path } },
      });
      const page = await console.open('/approvals', { key: null, expected: [/status of 401/] });
      await page.getByLabel('Key', { exact: true }).fill(console.key);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('link', { name: 'write_file' }).waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);

      await page.getByRole('link', { name: 'write_file' }).click();
      await page.getByText('+new', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Approve/ })
        .click();
      await page.getByRole('dialog').getByText('Decided').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await finished(console.client, run.id);

      await page.getByRole('link', { name: 'Inbox', exact: true }).first().click();
      await page.getByText('Nothing waits for you').waitFor();
      const publishing = console.client.publish(run.id, {});
      await page.getByRole('link', { name: 'publish' }).click();
      await page.getByText('new.txt').first().waitFor();
      await page.getByRole('button', { name: 'Publish' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Publish/ })
        .click();
      await page.getByRole('dialog').getByText('Decided').waitFor();
      await publishing;
      await expect.poll(async () => (await console.client.getRun(run.id)).publication.status).toBe('published');
      expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('new\n');
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});
