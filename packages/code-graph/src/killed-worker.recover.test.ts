import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { owner } from '@holdpoint/workspace/testing';
import { expect, test } from 'vitest';
import { type GraphRun, useGraphHost } from './testing/graph-host.ts';
import { sourceTree } from './testing/source-tree.ts';
import { quickParser } from './testing/test-program.ts';

const host = useGraphHost({ program: quickParser });
const program = join(import.meta.dirname, 'testing/graph-process.ts');

/** Starts a worker that builds the graph, and kills it after as many progress reports. @returns the files that the last one counted */
async function buildAndKill(run: GraphRun, reports: number): Promise<number> {
  const args = [program, host.dataDir, run.id, run.snapshot, bwrapPath, String(owner.uid)];
  const worker: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  let read = 0;
  let seen = 0;
  if (worker.stdout === null) throw new Error('no stdout');
  for await (const line of createInterface({ input: worker.stdout })) {
    read = Number(line);
    seen += 1;
    if (seen === reports) worker.kill('SIGKILL');
  }
  await ended;
  return read;
}

test('a worker killed during a build loses at most a batch; the next worker reads only the rest', {
  timeout: 300_000,
}, async () => {
  const run = await host.run(sourceTree(400));
  const first = await buildAndKill(run, 1);
  const second = await buildAndKill(run, 2);
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThan(first);
  const counted: number[] = [];
  const answer = await run.answer('summary', {}, { onProgress: ({ files }) => counted.push(files) });
  expect(answer.results).toMatchObject([{ language: 'typescript', files: 400 }]);
  expect(counted[0]).toBeGreaterThan(second);
  const fresh = await host.run(sourceTree(400));
  expect(await fresh.ask('symbols', { limit: 1000 })).toEqual(await run.ask('symbols', { limit: 1000 }));
});

test('a query whose time ends says how far the graph is, and the next one continues there', async () => {
  const run = await host.run(sourceTree(300));
  const counted: number[] = [];
  const stop = new AbortController();
  const onProgress = ({ files }: { files: number }) => {
    counted.push(files);
    stop.abort(new Error('stopped'));
  };
  await expect(run.ask('summary', {}, { onProgress, signal: stop.signal })).rejects.toThrow('stopped');
  const [before = 0] = counted.splice(0);
  await run.ask('summary', {}, { onProgress: ({ files }) => counted.push(files) });
  expect(counted[0]).toBeGreaterThan(before);
  expect(counted.at(-1)).toBe(300);
  const slow = await host.run(sourceTree(300));
  await expect(slow.ask('summary', {}, { timeout_ms: 1 })).rejects.toMatchObject({ code: 'ETIMEOUT' });
});
