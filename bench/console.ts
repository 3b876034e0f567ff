/**
 * The page of a long run in a real browser, while the run is under way: time to its first rows, longest task and events of each second, the rows of
 * the page and its heap.
 *
 * npm run bench -- console [--steps 10000]
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { findBrowser } from '../scripts/find-browser.ts';
import { plan, startSystem } from '../tests/harness/index.ts';
import { judged, say } from './figures.ts';

const { values } = parseArgs({ args: process.argv.slice(3), options: { steps: { type: 'string', default: '10000' } } });
const each = 50;
const groups = Math.ceil(Number(values.steps) / each);
/** Steps that are under way while the page is measured. */
const later = 15;
const mostMs = { firstRows: 1000, task: 200 };
const mostRows = 150;
const mostHeapMiB = 60;

const noteTasks = `globalThis.longTasks = [];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });`;

const browser = await launch();
execFileSync(process.execPath, ['apps/console/build.ts'], { stdio: 'inherit' });
const system = await startSystem({}, {});
try {
  await system.startWorker();
  const calls = Array.from({ length: each }, () => ({ tool: 'list_directory', args: { path: '.' } }));
  const { run } = await system.client.createRun({
    title: 'Many steps',
    limits: { max_steps: (groups + later) * each },
    plan: plan(...Array.from({ length: groups + later }, () => calls)),
  });
  say(`waits for ${groups * each} steps`);
  const until = ({ turn }: { turn: number }): boolean => turn > groups;
  await system.client.waitForRun(run.id, { until, signal: AbortSignal.timeout(1_800_000) });
  await measure(run.id);
} finally {
  await browser.close();
  await system[Symbol.asyncDispose]();
}
process.exit(0);

async function measure(runId: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, baseURL: system.api.url() });
  const headers = { origin: system.api.url() };
  await context.request.post(`${system.api.url()}/v1/session`, { data: { key: system.key }, headers });
  say('while the run is under way');
  const page = await openPage(context, runId);
  const loading = await page.evaluate<number[]>('longTasks.splice(0)');
  say(`  longest task of the loading: ${Math.max(0, ...loading).toFixed(0)} ms`);
  const before = await system.client.getRun(runId);
  const since = performance.now();
  const done = await system.client.waitForRun(runId, { signal: AbortSignal.timeout(600_000) });
  const seconds = (performance.now() - since) / 1000;
  say(`  ${((done.seq - before.seq) / seconds).toFixed(0)} events per second for ${seconds.toFixed(1)} s`);
  await page.locator('.run-title').getByText('succeeded').waitFor();
  report('longest task', Math.max(0, ...(await page.evaluate<number[]>('longTasks'))), mostMs.task, 'ms');
  report('rows', await page.locator('.timeline-item').count(), mostRows, '');
  report('heap', await heapOf(page), mostHeapMiB, 'MiB');
  await page.close();
  say('when it has ended');
  await openPage(context, runId);
}

async function openPage(context: BrowserContext, runId: string): Promise<Page> {
  const page = await context.newPage();
  await page.addInitScript({ content: noteTasks });
  const from = performance.now();
  await page.goto(`/runs/${runId}`, { waitUntil: 'commit' });
  await page.locator('.step-row').first().waitFor();
  report('first rows', performance.now() - from, mostMs.firstRows, 'ms');
  await page.getByText(/^[\d,]+ steps$/).waitFor();
  say(`  all summaries after ${(performance.now() - from).toFixed(0)} ms`);
  return page;
}

function report(name: string, found: number, atMost: number, unit: string): void {
  say(`  ${name}: ${judged([found], { atMost }).replace(/ \(.*?\)/, '')} ${unit}`);
}

async function heapOf(page: Page): Promise<number> {
  const debug = await page.context().newCDPSession(page);
  await debug.send('HeapProfiler.collectGarbage');
  return (await debug.send('Runtime.getHeapUsage')).usedSize / 1024 ** 2;
}

function launch() {
  const found = findBrowser();
  if ('missing' in found) throw new Error(found.missing);
  const args = process.getuid?.() === 0 ? ['--no-sandbox', '--disable-gpu'] : ['--disable-gpu'];
  return chromium.launch({ executablePath: found.path, args });
}
