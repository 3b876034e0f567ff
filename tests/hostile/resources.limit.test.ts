import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CommandEnd, CommandResult, ProcessLimits } from '@holdpoint/contract';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Cases,
  closedIfRoot,
  exited,
  form,
  inForm,
  mib,
  processesIn,
  quota,
  removeTree,
  type Scene,
  timedOut,
  useScene,
} from './host/index.ts';
import { startPulse } from './host/pulse.ts';

/** Maximum growth of the worker's memory, whatever a command does. */
const maxGrowth = 64 * mib;
/** Far above the delay of a busy machine, far below that of a host that hangs. */
const maxSilenceMs = 10_000;

const program = readFileSync(new URL('inside/hostile.py', import.meta.url), 'utf8');
const hostile = (which: string) => `exec /usr/bin/python3 -c "$PROGRAM" ${which}`;

interface Outcome {
  result: CommandResult;
  workspace: WorkspaceMount;
  scene: Scene;
}

interface ResourceCase {
  name: string;
  line: string;
  limits?: Partial<ProcessLimits>;
  /** Allowed ends. With control groups the first is expected. */
  ends: CommandEnd[] | ((bounded: boolean) => CommandEnd[]);
  also?(outcome: Outcome): void;
}

const sizeOf = ({ workspace }: Outcome, path: string) =>
  lstatSync(join(workspace.path, path), { throwIfNoEntry: false })?.size ?? 0;
const diskOf = (path: string) =>
  Number(execFileSync('du', ['-s', '--block-size=1', path], { encoding: 'utf8' }).split('\t')[0]);
/** Between two polls a command may write more than the limit, but never as much as in a minute. */
const staysNear =
  (limit: number) =>
  ({ workspace }: Outcome) =>
    expect(diskOf(workspace.path)).toBeLessThan(limit + 3000 * mib);

const cases: Cases<ResourceCase> = {
  bounded: [
    {
      name: 'a fork bomb',
      line: 'b() { b | b & }; b; wait; sleep 100',
      limits: { processes: 64, wall_ms: 1500 },
      ends: (bounded) => (bounded ? [quota('processes', 64), timedOut(1500)] : [timedOut(1500), exited(254)]),
    },
    {
      name: '10 GB of output',
      line: 'exec head -c 10G /dev/zero',
      limits: { wall_ms: 1500 },
      ends: [timedOut(1500)],
      also: ({ result }) => expect([result.stdout.text.length < 70_000, result.stdout.truncated]).toEqual([true, true]),
    },
    {
      name: 'a sparse file of 1 TB',
      line: 'exec truncate -s 1T sparse',
      ends: [quota('file_size', 1024 * mib)],
      also: (outcome) => expect(sizeOf(outcome, 'sparse')).toBe(0),
    },
    {
      name: 'a full /tmp and /dev/shm',
      line: 'for d in /tmp /dev/shm; do head -c 1G /dev/zero > $d/fill; stat -c %s $d/fill; done; exit 3',
      ends: [exited(3)],
      also: ({ result }) => {
        expect(result.stdout.text).toBe(`${64 * mib}\n${16 * mib}\n`);
        expect(result.stderr.text).toMatch(/No space left on device[\s\S]*No space left on device/);
      },
    },
    {
      name: 'a memory hog',
      line: hostile('memory'),
      limits: { memory_bytes: 192 * mib, wall_ms: 20_000 },
      ends: (bounded) => (bounded ? [quota('memory', 192 * mib)] : [exited(1)]),
    },
    {
      name: 'endless small files',
      line: 'for ((i = 0; ; i++)); do echo x > f$i; done',
      limits: { workspace_bytes: 4 * mib, wall_ms: 30_000 },
      ends: [quota('workspace', 4 * mib)],
      also: staysNear(4 * mib),
    },
    {
      name: 'files below a path that is too long',
      line: hostile('hidden'),
      limits: { workspace_bytes: 64 * mib, wall_ms: 10_000 },
      ends: [quota('workspace', 64 * mib)],
    },
    {
      name: 'thousands of open files',
      line: hostile('descriptors'),
      ends: [exited(0)],
      also: ({ result }) => expect(result.stdout.text).toMatch(/^10[0-9]{2} EMFILE\n$/),
    },
  ],
  full: [
    {
      name: 'a fork bomb that retries',
      line: hostile('fork'),
      limits: { wall_ms: 20_000 },
      ends: (bounded) => (bounded ? [quota('processes', 512)] : [timedOut(20_000)]),
    },
    {
      name: '10 GB of errors, line by line',
      line: 'yes the same again >&2',
      limits: { wall_ms: 1500 },
      ends: [timedOut(1500)],
      also: ({ result }) => expect([result.stderr.text.length < 70_000, result.stderr.truncated]).toEqual([true, true]),
    },
    {
      name: '1 GB of output where that is allowed',
      line: 'exec head -c 1G /dev/zero',
      limits: { output_bytes: 2048 * mib },
      ends: [exited(0)],
      also: ({ result }) => {
        expect(result.stdout.bytes).toBe(1024 * mib);
        expect(result.stdout.text.length).toBeLessThan(70_000);
      },
    },
    {
      name: 'output of a thousand processes',
      line: 'for i in {1..300}; do yes $i & done; wait',
      limits: { wall_ms: 3000 },
      ends: [timedOut(3000)],
    },
    {
      name: 'a sparse file of 1 TB with ignored signals',
      line: hostile('sparse'),
      ends: [exited(0)],
      also: (outcome) => {
        expect(outcome.result.stdout.text).toBe('EFBIG\nEFBIG\nEFBIG\n');
        expect(sizeOf(outcome, 'sparse')).toBe(0);
      },
    },
    {
      name: 'more files in /tmp than there is memory for their names',
      line: `cd /tmp; ${hostile('many 300000')}`,
      limits: { memory_bytes: 96 * mib, wall_ms: 20_000 },
      // Without control groups the files of /tmp are counted, with 1 KiB for each name.
      ends: [quota('memory', 96 * mib)],
    },
    { name: 'a busy loop', line: 'while :; do :; done', limits: { cpu_seconds: 1 }, ends: [quota('cpu', 1)] },
    {
      name: 'a busy loop with a time limit',
      line: 'while :; do :; done',
      limits: { wall_ms: 1000 },
      ends: [timedOut(1000)],
    },
    {
      name: 'a busy loop that ignores SIGXCPU',
      line: "trap '' XCPU; while :; do :; done",
      limits: { cpu_seconds: 1 },
      ends: [exited(137, 'SIGKILL')],
    },
    {
      name: 'many busy loops',
      line: 'for i in {1..8}; do (while :; do :; done) & done; wait',
      limits: { cpu_total_seconds: 1, cpu_seconds: 2, wall_ms: 15_000 },
      ends: (bounded) => (bounded ? [quota('cpu', 1)] : [exited(0), timedOut(15_000)]),
    },
    {
      name: 'a memory hog of many processes',
      line: hostile('memory-of-many'),
      limits: { memory_bytes: 192 * mib, wall_ms: 5000 },
      ends: [quota('memory', 192 * mib)],
    },
    {
      name: 'endless small writes to one file',
      line: 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done > f',
      limits: { file_bytes: 4 * mib, wall_ms: 30_000 },
      ends: [quota('file_size', 4 * mib)],
      also: (outcome) => expect(sizeOf(outcome, 'f')).toBe(4 * mib),
    },
    {
      name: 'many large files',
      line: 'for ((i = 0; ; i++)); do head -c 8M /dev/zero > f$i; done',
      limits: { workspace_bytes: 64 * mib, wall_ms: 30_000 },
      ends: [quota('workspace', 64 * mib)],
      also: staysNear(64 * mib),
    },
    {
      name: 'a file without a name',
      line: 'exec 3>f; rm f; while :; do head -c 1M /dev/zero >&3; done',
      limits: { workspace_bytes: 64 * mib, wall_ms: 10_000 },
      ends: [quota('workspace', 64 * mib), quota('file_size', 1024 * mib)],
    },
    {
      name: 'a higher limit for itself',
      line: 'ulimit -n 100000 || ulimit -u unlimited || ulimit -f unlimited',
      ends: [exited(1)],
    },
    {
      name: '10,000 directories in each other',
      line: hostile('deep 10000'),
      limits: { wall_ms: 60_000 },
      ends: [exited(0)],
      also: ({ result }) => expect(result.stdout.text).toBe('10000\n'),
    },
    {
      name: 'a million files in one directory',
      line: hostile('many 1000000'),
      limits: { wall_ms: 30_000, workspace_bytes: 128 * mib },
      ends: [quota('workspace', 128 * mib)],
    },
    {
      name: 'an archive of 10 GB in some megabytes, to a file',
      line: 'exec gunzip -c bomb.gz > out',
      ends: [quota('file_size', 1024 * mib)],
      also: (outcome) => expect(sizeOf(outcome, 'out')).toBe(1024 * mib),
    },
    {
      name: 'an archive of 10 GB in some megabytes, to the output',
      line: 'exec gunzip -c bomb.gz',
      limits: { wall_ms: 1500 },
      ends: [timedOut(1500)],
    },
    {
      name: 'an archive of 10 GB in some megabytes, to many files',
      line: 'gunzip -c bomb.gz | split -b 16M',
      limits: { workspace_bytes: 256 * mib },
      ends: [quota('workspace', 256 * mib)],
      also: staysNear(256 * mib),
    },
  ],
};

describe.each(closedIfRoot)('resources, with a worker of $name', (user) => {
  const { scene } = useScene(user, { spares: 0 });
  let bomb: Buffer;
  beforeAll(() => {
    const member = gzipSync(Buffer.alloc(16 * mib));
    bomb = Buffer.concat(Array.from({ length: 640 }, () => member));
  });

  test.each(inForm(cases))('$name', async ({ line, limits, ends, also }) => {
    const { worker } = scene;
    const workspace = scene.makeWorkspace();
    if (line.includes('bomb.gz')) writeFileSync(join(workspace.path, 'bomb.gz'), bomb, { mode: 0o644 });
    const shared = statfsSync('/dev/shm').bfree;
    const held = worker.resetPeak();
    const pulse = startPulse();
    const running = worker.run(workspace, line, { env: { PROGRAM: program }, limits });
    await worker.ping();
    const result = await running;
    const silence = pulse.stop();

    const wanted = typeof ends === 'function' ? ends(worker.capabilities.memory === 'enforced') : ends;
    expect(wanted).toContainEqual(result.end);
    also?.({ result, workspace, scene });
    expect(processesIn(workspace.path)).toEqual([]);
    expect(silence).toBeLessThan(maxSilenceMs);
    expect(worker.peak() - held, 'growth of the worker').toBeLessThan(maxGrowth);
    expect(statfsSync('/dev/shm').bfree).toBeGreaterThan(shared * 0.9);
    await scene.expectIntact();
    removeTree(workspace.path);
  });

  if (form === 'bounded') return;
  test('the tool host works in very deep and very wide trees', async () => {
    const workspace = scene.makeWorkspace();
    const [deep, wide] = [5000, 20_000];
    const { end } = await scene.worker.run(
      workspace,
      `mkdir wide; ( ${hostile(`deep ${deep}`)} ); cd wide; ${hostile(`many ${wide}`)}`,
      { env: { PROGRAM: program } },
    );
    expect(end).toEqual(exited(0));
    const files = scene.worker.files(workspace);
    const listed = await files.list('wide', { limit: 10 });
    expect([listed.total, listed.entries.length]).toEqual([wide, 10]);
    const found = await files.glob({ patterns: ['**'], limit: 10 });
    expect(found.paths).toHaveLength(10);
    expect(found.truncated).toBe(true);
    await expect(files.read(`${'d/'.repeat(2200)}x`)).rejects.toMatchObject({
      name: 'FileError',
      code: 'ENAMETOOLONG',
    });
    expect(await files.stat('d/d/d')).toMatchObject({ type: 'directory' });
    const huge = await scene.worker.run(workspace, 'exec truncate -s 900M huge');
    expect(huge.end).toEqual(exited(0));
    const held = scene.worker.resetPeak();
    const read = await files.read('huge', { max_bytes: 1000 });
    expect([read.data.length, read.bytes]).toEqual([1000, 900 * mib]);
    expect(scene.worker.peak() - held).toBeLessThan(maxGrowth);
    await scene.expectIntact();
  });
});
