import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchResult } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Search, WorkspaceMount } from '../port.ts';
import { isRoot, processesWith, rejects, until, useTestHost } from '../testing/host.ts';

const { host, test } = useTestHost();

const search = (workspace: WorkspaceMount, args: string[], more: Partial<Search> = {}): Promise<SearchResult> =>
  host.sandbox.search({
    ...{ workspace, path: '.', signal: new AbortController().signal },
    ...{ args: ['--no-config', '--color=never', '--sort=path', ...args, '.'], ...more },
  });
const write = (workspace: WorkspaceMount, path: string, content: string) =>
  host.sandbox.files(workspace).write(path, Buffer.from(content), { expect: { any: true } });
/** Runs a shell line in the tree as the tree's owner. */
const own = ({ path, uid, gid }: WorkspaceMount, line: string) =>
  execFileSync('bash', ['-c', line], { cwd: path, ...(isRoot ? { uid, gid } : {}) });
/** The tool host of a workspace, as host pids. */
const toolHosts = ({ path }: WorkspaceMount) =>
  processesWith('/tool-host/main.ts').filter((pid) => {
    const mounts = execFileSync('cat', [`/proc/${pid}/mountinfo`], { encoding: 'utf8' });
    return mounts.includes(`${path.split('/').at(-1)} /workspace`);
  });
const exited = (exit_code: number) => ({ status: 'exited', exit_code, signal: null });

test('finds, ends like ripgrep, and takes every text as it stands', async ({ workspace }) => {
  await write(workspace, 'a', 'needle\n');
  expect(await search(workspace, ['needle'])).toMatchObject({
    ...{ end: exited(0), stdout: { text: './a:needle\n', truncated: false }, stderr: { bytes: 0 }, nuls: 0 },
    capabilities: host.sandbox.capabilities,
  });
  expect((await search(workspace, ['none'])).end).toEqual(exited(1));
  const bad = await search(workspace, ['(']);
  expect([bad.end, bad.stderr.text]).toEqual([exited(2), expect.stringContaining('regex parse error')]);
  expect(await search(workspace, ['-0l', 'needle'], { keeps: 'nuls' })).toMatchObject({
    nuls: 1,
    stdout: { bytes: 0 },
  });
  const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter((text) => !/[\0\n\r]/.test(text));
  const shell = fc.constantFrom(
    "'",
    "'; touch /workspace/out; '",
    '$(id)',
    '`id`',
    '\\',
    '"',
    '!',
    "''",
    '&',
    '\u0081ł',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(word, shell), { minLength: 1, maxLength: 4 }), async (words) => {
      const text = words.join('').toWellFormed();
      await write(workspace, 'b', `<${text}>\n`);
      const found = await search(workspace, ['-F', '--only-matching', `--regexp=<${text}>`]);
      expect([found.stdout.text, found.stderr.text]).toEqual([`./b:<${text}>\n`, '']);
    }),
    { numRuns: 40 },
  );
  await rejects(host.sandbox.files(workspace).stat('out'), 'ENOENT');
});

test('refuses paths and arguments before anything starts', async ({ workspace }) => {
  await rejects(search(workspace, ['x'], { path: 'none' }), 'ENOENT');
  await rejects(search(workspace, ['x'], { path: '../..' }), 'EOUTSIDE');
  await rejects(search(workspace, ['a\0b']), 'ECOMMANDINVALID');
  await rejects(search(workspace, ['x'.repeat(200_000)]), 'ECOMMANDINVALID');
  await rejects(search(workspace, ['x'], { limits: { wall_ms: 0 } }), 'ECOMMANDINVALID');
});

test('a hostile tree is as harmless as any', async ({ workspace }) => {
  own(
    workspace,
    `mkdir -p d/e deep && ln -s .. d/e/up && ln -s d d-link && ln -s itself itself && mkfifo fifo d/fifo && mkdir shut && chmod 0 shut
     printf 'needle\\n' >$'d/new\\nline' && printf 'needle\\n' >d/e/f && truncate -s 1T sparse
     head -c 10000000 /dev/zero | tr '\\0' x >long && printf ' needle\\n' >>long`,
  );
  symlinkSync('/etc', join(workspace.path, 'out'));
  const found = await search(workspace, [
    '--no-ignore',
    '--hidden',
    '--null',
    '--max-columns=20',
    '--regexp=needle|root:',
  ]);
  const [files, warned] = [found.stdout.text.split('\n'), found.stderr.text];
  expect(found.end).toEqual(exited(2));
  expect(warned).toContain('shut');
  expect(files).toContain('./d/e/f\0needle');
  expect(found.stdout.text).toContain('./d/new\nline\0needle');
  expect(found.stdout.text).toContain('./long\0');
  expect(found.stdout.text).not.toContain('root:');
  expect(found.stdout.bytes).toBeLessThan(500);
});

test('holds memory, output, time and CPU without the tool host', async ({ workspace }) => {
  own(workspace, "head -c 100000000 /dev/zero | tr '\\0' x >line; yes needle | head -c 3000000 >many");
  await host.sandbox.files(workspace).stat('line');
  const before = toolHosts(workspace);
  expect(before).toHaveLength(1);
  const memory_bytes = 64 * 1024 * 1024;
  expect((await search(workspace, ['needle', '-g', 'line'], { limits: { memory_bytes } })).end).toEqual({
    ...{ status: 'quota', quota: 'memory', limit: memory_bytes },
  });
  const output = await search(workspace, ['needle', '-g', 'many'], { limits: { output_bytes: 100_000 } });
  expect(output.end).toEqual({ status: 'quota', quota: 'output', limit: 100_000 });
  expect(output.stdout.bytes).toBe(100_000);
  own(workspace, 'mkfifo .ignore');
  const late = await search(workspace, ['needle'], { limits: { wall_ms: 300 } });
  expect(late.end).toEqual({ status: 'timed_out', after_ms: 300 });
  own(workspace, 'rm .ignore; yes xxxxxxxxxxxxxxxxxx | head -100000 >backtracks');
  const busy = await search(workspace, ['-P', '(x+x+)+[yz]', '-g', 'backtracks'], { limits: { cpu_seconds: 1 } });
  expect(busy.end).toEqual({ status: 'quota', quota: 'cpu', limit: 1 });
  // A child that has not become a shell yet has its arguments, too.
  expect(toolHosts(workspace)).toContain(before[0]);
  expect((await search(workspace, ['needle', '-g', 'many'], { kept_bytes: 200 })).stdout.truncated).toBe(true);
});

test('a canceled search is killed, and file operations continue beside it', async ({ workspace, word }) => {
  own(workspace, 'mkfifo .ignore');
  const abort = new AbortController();
  // The first two wait for a writer of the FIFO, the third for one of them.
  const searches = [1, 2, 3].map(() => search(workspace, [word], { signal: abort.signal }));
  await until(() => processesWith(`--sort=path\0${word}`).length === 2);
  expect(await host.sandbox.files(workspace).stat('.ignore')).toMatchObject({ type: 'other' });
  const own3 = new AbortController();
  const fourth = search(workspace, [word], { signal: own3.signal });
  own3.abort(new Error('no more'));
  expect((await fourth).end).toEqual({ status: 'killed', reason: 'no more' });
  abort.abort(new Error('stopped'));
  for (const { end } of await Promise.all(searches)) expect(end).toEqual({ status: 'killed', reason: 'stopped' });
  expect(processesWith(word)).toEqual([]);
  own(workspace, 'rm .ignore');
  expect((await search(workspace, [word])).end).toEqual(exited(1));
});

test('killAll ends a search with its tool host', async ({ workspace, word }) => {
  own(workspace, 'mkfifo .ignore');
  const running = search(workspace, [word], { limits: { wall_ms: 60_000 } });
  await until(() => processesWith(word).length === 1);
  own(workspace, 'rm .ignore');
  await host.sandbox.killAll(workspace.id);
  // It changes nothing, so it runs once more.
  expect((await running).end).toEqual(exited(1));
});
