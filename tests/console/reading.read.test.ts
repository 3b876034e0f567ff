import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { allowBash, bash, finish, plan } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

const policy = { rules: [allowBash] };
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** About 9.4 MB: a longer file is downloaded. */
const rowCount = 380_000;
const tenMegabytes = `seq -f 'row %.0f of a long one' ${rowCount}`;
const last = `row ${rowCount} of a long one`;
const holdWrites = { rules: [allowBash, { match: { tool: 'write_file' }, action: 'hold' as const }] };
const write = (path: string) => ({ tool: 'write_file', args: { path, content: 'x'.repeat(500) } });

withBrowser('long output', () => {
  test('ten megabytes are searched, copied and downloaded', async () => {
    const run = await finish(console.client, {
      title: 'Ten megabytes',
      policy,
      plan: plan([bash(`${tenMegabytes} > ten.txt`)]),
    });
    const context = await console.context();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: console.url });
    const page = await console.open(`/runs/${run.id}/files`, { context });
    await page.getByRole('button', { name: 'ten.txt' }).click();
    await page.getByText(`${rowCount.toLocaleString('en')} rows`).waitFor();
    const box = page.getByRole('region', { name: 'ten.txt', exact: true });
    expect(await box.locator('.output-row').count()).toBeLessThan(150);
    await page.getByLabel('Search in ten.txt').fill('ROW 123456 ');
    await page.getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    await box.getByText('row 123456 of a long one').waitFor();
    await button(page, 'Copy').click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate<number>('navigator.clipboard.readText().then((text) => text.length)');
    expect(copied).toBeGreaterThan(9_000_000);
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text.length).toBe(copied);
    expect(text.endsWith(`${last}\n`)).toBe(true);
  });

  test('a command in the background is followed, and the place of absent bytes is named', async () => {
    const command = `${tenMegabytes}; until [ -e go ]; do sleep 0.1; done`;
    const { run } = await console.client.createRun({
      title: 'In the background',
      policy: holdWrites,
      // The run waits, and its background command with it.
      plan: plan([{ tool: 'bash', args: { command, run_in_background: true } }], [write('a.txt')]),
    });
    await until('all is written', async () => {
      const [task] = await console.client.listTasks(run.id);
      const output = task && (await console.client.readTaskOutput(task.id, { stream: 'stdout', max_bytes: 1 }));
      return (output?.total_bytes ?? 0) > 9_000_000;
    });
    const page = await console.open(`/runs/${run.id}/tasks`);
    const box = page.getByRole('region', { name: 'stdout of the command' });
    await box.getByText(last, { exact: true }).waitFor();
    await page.getByLabel('Search in stdout of the command').fill('no longer kept');
    await page.getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    await box.getByText(/^\[… [\d,]+ bytes are no longer kept …\]$/).waitFor();
    await button(page, 'Follow').click();
    await box.getByText(last, { exact: true }).waitFor();
    await checkAccess(page);
    await console.client.cancelRun(run.id, {});
  });
});

withBrowser('a diff', () => {
  test('is split or unified, names modes and binaries, opens long files on demand, and keeps marks', async () => {
    const path = mkdtempSync(join(tmpdir(), 'console-diff-'));
    try {
      writeFileSync(join(path, 'small.ts'), 'export const size = 10;\nexport const kept = 1;\n');
      const run = await finish(console.client, {
        title: 'All kinds of changes',
        policy,
        workspace: { source: { type: 'directory', path } },
        plan: plan(
          [bash('sed -i s/10/20/ small.ts; printf "a\\0b" > picture.bin; seq 1 3500 > many.txt')],
          [
            bash(
              'yes 0123456789012345678901234567890123456789 | head -c 600000 > wide.txt; echo x > run.sh; chmod +x small.ts run.sh',
            ),
          ],
        ),
      });
      const page = await console.open(`/runs/${run.id}/changes`);
      await page.getByText('export const size = 20;').waitFor();
      await button(page, 'Split').click();
      const pair = page.locator('.diff.split').locator('.diff-item', { hasText: 'size = 20' });
      await pair.getByText('export const size = 10;').waitFor();
      await checkAccess(page);
      await page.getByText('made executable').waitFor();
      await show(page, 'picture.bin');
      await page.getByText('A binary file').waitFor();
      await show(page, 'many.txt');
      await page.getByText('3,500 changed lines').waitFor();
      await page
        .locator('.diff-item', { hasText: '3,500 changed lines' })
        .getByRole('button', { name: 'Show them' })
        .click();
      await page.locator('.diff-item.of-row').nth(20).waitFor();
      await show(page, 'wide.txt');
      await page.getByText('14,635 changed lines').waitFor();
      await show(page, 'small.ts');
      await page.getByLabel('Viewed small.ts').check();
      await page.getByText('1 of 5 viewed').waitFor();
      await page.reload();
      await page.getByText('1 of 5 viewed').waitFor();
      expect(await page.getByLabel('Viewed small.ts').isChecked()).toBe(true);
      const [first] = (await console.client.listSteps(run.id)).data;
      await page.goto(`/runs/${run.id}/steps/${first?.id}`);
      await page.getByText(/0 of \d viewed/).waitFor();
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});

withBrowser('a chosen file', () => {
  test('stays where it is while the lines of the files above it arrive', async () => {
    const files = Array.from({ length: 12 }, (_, at) => `f${String(at).padStart(2, '0')}.txt`);
    const run = await finish(console.client, {
      title: 'Twelve files',
      policy,
      plan: plan([bash(files.map((path) => `seq 1 300 > ${path}`).join('; '))]),
    });
    const page = await console.open('/runs');
    const gate = Promise.withResolvers<void>();
    const isAbove = /diff\?.*path=f0[0-8]\.txt/;
    await page.route(isAbove, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.goto(`/runs/${run.id}/changes`);
    await page.getByText('Reading the lines').first().waitFor();
    await show(page, 'f09.txt');
    const head = page.locator('.diff-item.of-file').filter({ hasText: 'f09.txt' });
    await page.locator('.code-line').first().waitFor();
    const top = () => head.evaluate((element) => Math.round(element.getBoundingClientRect().top));
    await expect.poll(top).toBeLessThan(60);
    const before = await top();
    gate.resolve();
    await page.waitForResponse((response) => isAbove.test(response.url()));
    await expect.poll(() => page.evaluate<number>('window.scrollY')).toBeGreaterThan(3000);
    expect(Math.abs((await top()) - before)).toBeLessThan(30);
    await page.mouse.wheel(0, -400);
    await expect.poll(() => page.locator('.code-line').count()).toBeGreaterThan(20);
    await page.getByText('Reading the lines').first().waitFor({ state: 'detached' });
  });
});

withBrowser('small and zoomed', () => {
  test('no page scrolls sideways at 320 px, which is 1280 px at 400 %, or at 200 %', async () => {
    const { run } = await console.client.createRun({
      title: 'A-title-without-a-single-space-'.repeat(6),
      policy: holdWrites,
      plan: plan(
        [
          bash(
            `mkdir -p ${'deep/'.repeat(12)}; echo ${'wide'.repeat(200)} > ${'deep/'.repeat(12)}a-file-with-a-long-name.txt`,
          ),
        ],
        [{ tool: 'write_file', args: { path: `${'folder/'.repeat(20)}file.txt`, content: 'x'.repeat(500) } }],
      ),
    });
    await until('a decision is due', async () => (await console.client.getRun(run.id)).pending_approvals > 0);
    const [approval] = (await console.client.listApprovals({ run_id: run.id })).data;
    const [step] = (await console.client.listSteps(run.id)).data;
    const parts = ['', '/conversation', '/changes', '/files', '/tasks', '/trace', '/events', `/steps/${step?.id}`];
    const paths = [
      '/approvals',
      `/approvals/${approval?.id}`,
      '/runs',
      '/new',
      ...parts.map((part) => `/runs/${run.id}${part}`),
    ];
    const page = await console.open('/approvals', { width: 320 });
    for (const width of [320, 640]) {
      await page.setViewportSize({ width, height: 600 });
      for (const path of paths) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await expect.poll(() => page.locator('.pulse, [aria-busy="true"]').count()).toBe(0);
        expect(await page.evaluate<number>(sideways), `${path} at ${width} px`).toBeLessThanOrEqual(0);
      }
    }
  });

  test('with reduced motion nothing moves, and without it something does', async () => {
    const page = await console.open('/new');
    // Buttons change their colour slowly.
    await page.locator('.button').first().waitFor();
    expect(await page.evaluate<number>(moving)).toBe(0);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await page.evaluate<number>(moving)).toBeGreaterThan(0);
  });
});

withBrowser('letters', () => {
  test('find the next failure beyond the screen, and do nothing when they are switched off', async () => {
    const ok = Array.from({ length: 30 }, () => bash('true'));
    const run = await finish(console.client, {
      title: 'Two failures',
      policy,
      plan: plan([...ok, bash('exit 3'), ...ok, bash('exit 4')]),
    });
    const page = await console.open(`/runs/${run.id}`, { width: 1280 });
    await page.locator('.step-row').first().waitFor();
    await page.getByText(/^\d+ steps$/).waitFor();
    const failed = (await console.client.listSteps(run.id, { status: ['failed'], limit: 200 })).data;
    expect(failed.length).toBeGreaterThan(0);
    for (const { id } of failed) {
      await page.keyboard.press('n');
      await page.locator(`a[href="/runs/${run.id}/steps/${id}"]:focus`).waitFor();
    }
    await page.keyboard.press('k');
    expect(await page.evaluate<string>('document.activeElement.className')).toContain('step-link');
    await page.keyboard.press('?');
    await page.getByLabel('Single letters are keys').uncheck();
    await page.keyboard.press('Escape');
    for (const key of ['g', 'a', '?', 'n']) await page.keyboard.press(key);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(`/runs/${run.id}`);
    await page.reload();
    await page.locator('.step-row').first().waitFor();
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

const show = (page: Page, path: string) =>
  page.getByRole('navigation', { name: 'Changed files' }).getByTitle(path).click();
const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const moving = `[...document.querySelectorAll('*')].filter((one) => {
  const { transitionDuration, animationName } = getComputedStyle(one);
  return animationName !== 'none' || transitionDuration.split(',').some((each) => parseFloat(each) > 0);
}).length`;
