// Runs an example plan and takes six screenshots of the console into docs/console:
//
//   npm run record-console
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@holdpoint/client';
import { chromium, type Page } from 'playwright-core';
import { parse } from 'yaml';
import { startSystem } from '../examples/demo/system.ts';
import { createTemporary } from '../examples/demo/temporary.ts';
import { findBrowser } from './find-browser.ts';

const here = dirname(fileURLToPath(import.meta.url));
const examples = join(here, '../examples');
const docs = join(here, '../docs/console');
const maxMs = 180_000;

interface Shot {
  name: string;
  address: string;
  /** Text on the finished page. */
  shows: string;
  theme: 'light' | 'dark';
  isPhone?: boolean;
}

const signal = AbortSignal.timeout(maxMs);
const place = await createTemporary(examples, signal);
const system = await startSystem({ command: join(here, '../apps/cli/src/main.ts'), data: place.data, signal });
try {
  const held = await submit(system.client, 'Fix the empty page of an archive');
  const ended = await submit(system.client);
  await approveOf(system.client, ended);
  await system.client.waitForRun(ended, { signal });
  const fix = (await system.client.listSteps(ended)).data.find(({ name }) => name === 'fix');
  const approval = await pendingOf(system.client, held);
  await mkdir(docs, { recursive: true });
  await take([
    { name: 'inbox', address: '/approvals', shows: 'Fix the empty page of an archive', theme: 'light' },
    { name: 'approval-phone', address: `/approvals/${approval}`, shows: 'edit', theme: 'dark', isPhone: true },
    { name: 'run', address: `/runs/${ended}`, shows: 'Group 5', theme: 'light' },
    { name: 'changes', address: `/runs/${ended}/changes`, shows: 'Math.ceil', theme: 'dark' },
    { name: 'trace', address: `/runs/${ended}/trace`, shows: 'waiting for people', theme: 'light' },
    { name: 'step', address: `/runs/${ended}/steps/${fix?.id}`, shows: 'What it changed', theme: 'dark' },
  ]);
} finally {
  await system.stop();
  await place.remove();
}

async function submit(client: Client, title?: string): Promise<string> {
  const { groups, ...rest } = parse(await readFile(join(examples, 'pagelist.plan.yaml'), 'utf8'));
  const source = { type: 'git', path: place.pagelist } as const;
  const { run } = await client.createRun({
    ...rest,
    title: title ?? rest.title,
    plan: { groups },
    workspace: { source },
  });
  await client.waitForRun(run.id, { until: (now) => now.pending_approvals > 0, signal });
  return run.id;
}

async function pendingOf(client: Client, runId: string): Promise<string> {
  const [approval] = (await client.listApprovals({ run_id: runId })).data;
  if (approval === undefined) throw new Error(`the run ${runId} has no open approval`);
  return approval.id;
}

async function approveOf(client: Client, runId: string): Promise<void> {
  const { id, action_digest } = await client.getApproval(await pendingOf(client, runId));
  await client.decideApproval(id, { decision: 'approve', action_digest });
}

async function take(shots: readonly Shot[]): Promise<void> {
  const found = findBrowser();
  if ('missing' in found) throw new Error(found.missing);
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: found.path, args: ['--disable-gpu', ...asRoot] });
  const key = (await readFile(join(place.data, 'api-key'), 'utf8')).trim();
  try {
    for (const { name, address, shows, theme, isPhone } of shots) {
      const viewport = isPhone ? { width: 360, height: 740 } : { width: 1200, height: 760 };
      const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: 'reduce' });
      await context.request.post(`${system.address}/v1/session`, {
        data: { key },
        headers: { origin: system.address },
      });
      const page = await context.newPage();
      await page.goto(`${system.address}${address}`);
      await page.getByText(shows).first().waitFor();
      await settle(page);
      await page.screenshot({ path: join(docs, `${name}.png`) });
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

/** Waits until nothing on the page says that it is being read. */
async function settle(page: Page): Promise<void> {
  await page.locator('.pulse').first().waitFor({ state: 'detached' });
}
