/**
 * The bare work below the steps of `bench -- steps`, in a small process of its own: a worker of 200 MB takes five times as long for a fork.
 * Gets `{name, times}` and answers with the milliseconds of each time. `jobs` opens BullMQ in another process.
 */
import { spawn } from 'node:child_process';
import { open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [what, address = '', directory = '', site = ''] = process.argv.slice(2);

const bash = (line: string) => () => done('/bin/bash', ['-c', line]);

function done(program: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

/** The way of a careful program to replace a file: the new content is on the disk before the name changes. */
async function replace(path: string, content: string): Promise<void> {
  const file = await open(`${path}.new`, 'w');
  await file.writeFile(content);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
}

async function openWork(): Promise<Record<string, () => Promise<unknown>>> {
  const load = createRequire(new URL('../packages/sandbox/package.json', import.meta.url));
  const { rgPath } = load('@vscode/ripgrep') as { rgPath: string };
  const path = join(directory, 'bare.txt');
  await writeFile(path, 'one\n'.repeat(1000));
  let serial = 0;
  return {
    read: () => readFile(path, 'utf8'),
    write: () => replace(path, `${'one\n'.repeat(999)}${serial++}\n`),
    async edit() {
      const text = await readFile(path, 'utf8');
      await replace(path, text.replace(/\d+$/, String(serial++)));
    },
    bash: bash('true'),
    'bash-2': bash('echo one > bare-2.txt; cat bare-2.txt'),
    grep: () => done(rgPath, ['--line-number', '--no-heading', '--regexp=needle', '--', '.']),
    glob: () => readdir(directory, { recursive: true }),
    async fetch() {
      await (await fetch(site)).text();
    },
  };
}

async function openJobs(): Promise<Record<string, () => Promise<unknown>>> {
  const [{ Queue, Worker }, { connect }, { default: pino }] = await Promise.all([
    import('bullmq'),
    import('@holdpoint/engine/redis'),
    import('pino'),
  ]);
  const connections = connect(address, pino({ level: 'silent' }));
  const queue = new Queue('floor', { connection: connections.state, prefix: '{floor}' });
  const worker = new Worker('floor', async () => {}, {
    connection: connections.worker(),
    prefix: '{floor}',
    concurrency: 40,
    lockDuration: 13_000,
    stalledInterval: 5000,
    removeOnComplete: { count: 0 },
  });
  const waiting = new Map<string, () => void>();
  worker.on('completed', ({ id }) => waiting.get(String(id))?.());
  await worker.waitUntilReady();
  let serial = 0;
  return {
    job: () =>
      new Promise<void>((resolve, reject) => {
        const id = `job-${serial++}`;
        waiting.set(id, () => {
          waiting.delete(id);
          resolve();
        });
        const data = { run_id: id, step_id: id };
        queue.add('job', data, { jobId: id, attempts: 8, removeOnComplete: true }).catch(reject);
      }),
  };
}

const work = await (what === 'jobs' ? openJobs() : openWork());
process.on('message', async ({ name, times, atOnce }: { name: string; times: number; atOnce: number }) => {
  const took: number[] = [];
  let left = times;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) {
        const began = performance.now();
        await work[name]?.();
        took.push(performance.now() - began);
      }
    }),
  );
  process.send?.({ took, seconds: (performance.now() - from) / 1000 });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
