import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowBash, bash, plan } from '../harness/runs.ts';
import { type System, startSystem } from '../harness/system.ts';
import { until } from '../harness/until.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

/** What a browser says of requests to a server that is away. */
const away = [/Failed to load resource/, /ERR_/];
const titleOf = 'Wait for a file';

withBrowser('a page that stays open', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem();
    await system.startWorker();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  /** A run that ends when the test says so. */
  async function waitingRun(): Promise<{ id: string; end: () => Promise<void> }> {
    const { run } = await system.client.createRun({
      title: titleOf,
      policy: { rules: [allowBash] },
      plan: plan([bash('until [ -e go ]; do sleep 0.05; done; echo "it went"')]),
    });
    await until('the command runs', async () => (await system.client.listSteps(run.id)).data[0]?.status === 'running');
    return {
      id: run.id,
      end: () =>
        until('the run has ended', async () => {
          // On a loaded machine the step may be taken over: its file goes to the newest tree.
          await writeFile(`${system.tree(run.id)}/go`, '');
          return (await system.client.getRun(run.id)).status === 'succeeded';
        }),
    };
  }

  test('says that it is offline while the API is away, and shows the end of the run afterwards', async () => {
    const run = await waitingRun();
    const page = await console.open(`/runs/${run.id}`, { url: system.api.url(), key: system.key, expected: away });
    await page.locator('.nav').getByText('Live', { exact: true }).waitFor();
    await page.getByText('1 step', { exact: true }).waitFor();
    await system.api.kill();
    await page
      .locator('.nav')
      .getByText(/^Offline for/)
      .waitFor();
    expect(await page.getByRole('heading', { name: titleOf }).count()).toBe(1);
    await system.api.start();
    await run.end();
    await page.locator('.nav').getByText('Live', { exact: true }).waitFor({ timeout: 60_000 });
    await page.locator('.step-row').getByText('succeeded').waitFor({ timeout: 60_000 });
    await page.locator('.run-title').getByText('succeeded').waitFor();
  });

  test('eight tabs show the end of a run, and none keeps the others from reading', async () => {
    const run = await waitingRun();
    const options = { url: system.api.url(), key: system.key };
    const context = await console.context(options);
    const pages = [];
    for (let tab = 0; tab < 8; tab++) pages.push(await console.open(`/runs/${run.id}`, { ...options, context }));
    for (const page of pages) await page.getByText('1 step', { exact: true }).waitFor();
    await run.end();
    for (const page of pages) await page.locator('.run-title').getByText('succeeded').waitFor();
  });

  test('shows the output of a running command as it comes', async () => {
    const { run } = await system.client.createRun({
      title: 'Speak slowly',
      policy: { rules: [allowBash] },
      plan: plan([bash('echo first words; until [ -e go ]; do sleep 0.05; done; echo last words')]),
    });
    await until('the command runs', async () => (await system.client.listSteps(run.id)).data[0]?.status === 'running');
    const [step] = (await system.client.listSteps(run.id)).data;
    const page = await console.open(`/runs/${run.id}/steps/${step?.id}`, { url: system.api.url(), key: system.key });
    await page.getByText('first words', { exact: true }).waitFor();
    await writeFile(`${system.tree(run.id)}/go`, '');
    await page.getByText('last words', { exact: true }).waitFor();
  });
});
