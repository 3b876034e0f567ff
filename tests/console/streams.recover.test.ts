import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval, Run } from '@holdpoint/client';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { allowBash, approve, bash, finished, nextApproval, plan } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { startStreamProxy } from './stream-proxy.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

const ways = [
  ['a SharedWorker', false],
  ['an elected tab', true],
] as const;

/** A context whose pages meet a browser without SharedWorker. */
async function contextOf(url: string, isWithout: boolean): Promise<BrowserContext> {
  const context = await console.context({ url });
  if (isWithout) await context.addInitScript({ content: 'delete globalThis.SharedWorker;' });
  return context;
}

/** A run whose first call is held and whose second call is not. */
async function heldRun(title: string): Promise<{ run: Run; approval: Approval }> {
  const { run } = await console.client.createRun({
    title,
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }, allowBash] },
    plan: plan([{ tool: 'write_file', args: { path: 'a.txt', content: 'a\n' } }], [bash('echo second')]),
  });
  return { run, approval: await nextApproval(console.client, run.id) };
}

const title = (page: Page) => page.locator('.run-title');
const rows = (page: Page) => page.locator('.step-row');

async function expectEnd(page: Page): Promise<void> {
  await title(page).getByText('succeeded').waitFor();
  await expect.poll(() => rows(page).getByText('succeeded').count()).toBe(2);
}

withBrowser('the streams of a browser', () => {
  test.each(ways)('eight tabs on one run have two streams by %s', async (_, isWithout) => {
    await using proxy = await startStreamProxy(console.url);
    const { url } = proxy;
    const { run, approval } = await heldRun('One run in eight tabs');
    await using context = await contextOf(url, isWithout);
    const pages: Page[] = [];
    for (let tab = 0; tab < 8; tab++) pages.push(await console.open(`/runs/${run.id}`, { url, context }));
    for (const page of pages) await page.locator('.nav').getByText('Live', { exact: true }).waitFor();
    await expect.poll(proxy.open).toEqual(['/v1/events', `/v1/runs/${run.id}/events`]);
    await approve(console.client, approval);
    for (const page of pages) await expectEnd(page);
    await expect.poll(proxy.open).toEqual(['/v1/events']);
  });

  test.each(ways)('eight tabs on eight runs show the end of each by %s', async (_, isWithout) => {
    await using proxy = await startStreamProxy(console.url);
    const { url } = proxy;
    await using context = await contextOf(url, isWithout);
    const all = await Promise.all(Array.from({ length: 8 }, (__, at) => heldRun(`Run ${at} of eight`)));
    const pages: Page[] = [];
    for (const { run } of all) pages.push(await console.open(`/runs/${run.id}`, { url, context }));
    for (const page of pages) await rows(page).getByText('held', { exact: true }).waitFor();
    expect(proxy.open().length).toBeLessThanOrEqual(4);
    for (const { approval } of all) await approve(console.client, approval);
    for (const page of pages) await expectEnd(page);
  });

  test('the tab that leads is killed, and the others miss nothing', async () => {
    await using proxy = await startStreamProxy(console.url);
    const { url } = proxy;
    await using context = await contextOf(url, true);
    const { run, approval } = await heldRun('The leader is killed');
    const leader = await console.open('/runs', { url, context });
    await leader.locator('.nav').getByText('Live', { exact: true }).waitFor();
    const pages = [
      await console.open(`/runs/${run.id}`, { url, context }),
      await console.open('/approvals', { url, context }),
    ] as const;
    await rows(pages[0]).getByText('held', { exact: true }).waitFor();
    const waiting = pages[1].locator(`a[href="/approvals/${approval.id}"]`);
    await waiting.waitFor();
    // The next leader finds its way to the API only after the end of the run.
    const release = proxy.hold();
    const crashed = leader.waitForEvent('crash');
    const debug = await context.newCDPSession(leader);
    void debug.send('Page.crash').catch(() => undefined);
    await crashed;
    await approve(console.client, approval);
    await finished(console.client, run.id);
    release();
    await expectEnd(pages[0]);
    await waiting.waitFor({ state: 'detached' });
    await expect.poll(proxy.open).toContain('/v1/events');
    await pages[0].locator('.nav').getByText('Live', { exact: true }).waitFor();
  });

  test('a run that continues after its end is followed again', async () => {
    const { run } = await console.client.createRun({
      title: 'Fails once',
      policy: { rules: [allowBash, { match: { tool: 'write_file' }, action: 'hold' }] },
      plan: plan([bash('echo first')], [{ tool: 'write_file', args: { path: 'b.txt', content: 'b\n' } }]),
    });
    const first = await nextApproval(console.client, run.id);
    const page = await console.open(`/runs/${run.id}`);
    await rows(page).getByText('held', { exact: true }).waitFor();
    await console.client.cancelRun(run.id, {});
    await title(page).getByText('canceled').waitFor();
    const [, second] = (await console.client.listSteps(run.id)).data;
    await console.client.retryRun(run.id, { from_step: second?.id ?? '' });
    const again = await nextApproval(console.client, run.id);
    expect(again.id).not.toBe(first.id);
    await rows(page).getByText('held', { exact: true }).waitFor();
    await approve(console.client, again);
    await title(page).getByText('succeeded').waitFor();
  });

  test.each(ways)('a stream that is cut at every event loses and repeats nothing by %s', async (_, isWithout) => {
    await using proxy = await startStreamProxy(console.url, 1);
    const { url } = proxy;
    const expected = [/ERR_INCOMPLETE_CHUNKED_ENCODING/];
    const words = Array.from({ length: 12 }, (__, at) => `word${at};`);
    const { run } = await console.client.createRun({
      title: 'Cut at every event',
      policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }, allowBash] },
      plan: plan(
        [
          bash(
            `for word in ${words.join(' ').replaceAll(';', '')}; do echo "$word;"; sleep 0.2; done; until [ -e go ]; do sleep 0.1; done`,
          ),
        ],
        [bash('echo 2 > 2.txt'), bash('echo 3')],
        [{ tool: 'write_file', args: { path: 'c.txt', content: 'c\n' } }],
      ),
    });
    await until('the command runs', async () => (await console.client.listSteps(run.id)).data[0]?.status === 'running');
    const [first] = (await console.client.listSteps(run.id)).data;
    await using context = await contextOf(url, isWithout);
    const page = await console.open(`/runs/${run.id}`, { url, context, expected });
    const inbox = await console.open('/approvals', { url, context, expected });
    const step = await console.open(`/runs/${run.id}/steps/${first?.id}`, { url, context, expected });
    await step.getByText('word11;', { exact: true }).waitFor();
    const output = step.locator('.output-text');
    await expect
      .poll(async () => (await output.allTextContents()).filter((line) => line.startsWith('word')))
      .toEqual(words);
    await expect.poll(proxy.cuts).toBeGreaterThan(3);
    await letGo(run.id);
    const approval = await nextApproval(console.client, run.id);
    await inbox.locator(`a[href="/approvals/${approval.id}"]`).waitFor();
    await approve(console.client, approval);
    await finished(console.client, run.id);
    await inbox.locator(`a[href="/approvals/${approval.id}"]`).waitFor({ state: 'detached' });
    await expectSameAsApi(page, run.id);
  });
});

/** Ends the command that waits for a file, in whatever tree of the run it stands. */
async function letGo(runId: string): Promise<void> {
  const trees = join(console.dataDir, 'runs', runId, 'trees');
  await until('the command has ended', async () => {
    const epochs = readdirSync(trees).filter((name) => /^\d+$/.test(name));
    for (const epoch of epochs) writeFileSync(join(trees, epoch, 'go'), '');
    return (await console.client.listSteps(runId)).data[0]?.status === 'succeeded';
  });
}

/** List and detail show the state of the API, each step and event once. */
async function expectSameAsApi(page: Page, runId: string): Promise<void> {
  const { status } = await console.client.getRun(runId);
  const steps = (await console.client.listSteps(runId)).data;
  await title(page).getByText(status).waitFor();
  await expect
    .poll(() => page.locator('.step-number').allTextContents())
    .toEqual(steps.map(({ number }) => String(number)));
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  const events = (await console.client.listEvents(runId, { limit: 1000 })).data;
  await page.getByText(`${events.length} events`, { exact: true }).waitFor();
  const seqs = await page.locator('.event-seq').allTextContents();
  expect(seqs).toEqual(events.slice(0, seqs.length).map(({ seq }) => String(seq)));
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  await page
    .locator('li')
    .filter({ has: page.locator(`a[href="/runs/${runId}"]`) })
    .getByText(status)
    .waitFor();
}
