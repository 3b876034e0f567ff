import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { openSandbox } from './open-sandbox.ts';
import { processesWith, rejects, useTestHost } from './testing/host.ts';

const mib = 1024 * 1024;

const { host, test } = useTestHost();

test('endless output ends at the limit, and the command with it, where output must be whole', async ({ word }) => {
  const before = process.memoryUsage().rss;
  const { end, stdout } = await host.run(host.makeWorkspace(), `yes ${word}`, { over_output: 'kill' });
  expect(processesWith(word)).toEqual([]);
  expect(end).toEqual({ status: 'quota', quota: 'output', limit: 10 * mib });
  expect(stdout.bytes).toBe(10 * mib);
  expect(stdout.truncated).toBe(true);
  expect(stdout.text.length).toBeLessThan(65 * 1024 + 100);
  expect(stdout.text).toMatch(/\[… \d+ bytes omitted …\]/);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * mib);
});

test('the output limit counts both streams together', async () => {
  const line = 'head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; sleep 1000';
  const limits = { output_bytes: 500_000 };
  const { end, stdout, stderr } = await host.run(host.makeWorkspace(), line, { limits, over_output: 'kill' });
  expect(end).toEqual({ status: 'quota', quota: 'output', limit: 500_000 });
  expect(stdout.bytes + stderr.bytes).toBe(500_000);
});

test('a command that prints over the limit runs to its end, and keeps the beginning and the end of both streams', async () => {
  const line = 'seq 2000000; echo last; seq 9 >&2; exit 3';
  const { end, stdout, stderr } = await host.run(host.makeWorkspace(), line, { limits: { output_bytes: 2000 } });
  expect(end).toEqual({ status: 'exited', exit_code: 3, signal: null });
  expect([stdout.truncated, stdout.bytes]).toEqual([true, 14_888_901]);
  expect(stdout.text).toMatch(/^1\n2\n3\n[\s\S]*\n\[… 14886919 bytes omitted …\]\n[\s\S]*\n2000000\nlast\n$/);
  expect(stderr).toEqual({ text: '1\n2\n3\n4\n5\n6\n7\n8\n9\n', bytes: 18, truncated: false });
});

test('a command that never stops printing meets its other limits', async ({ word }) => {
  const { end, stdout } = await host.run(host.makeWorkspace(), `yes ${word}`, {
    limits: { output_bytes: 1000, wall_ms: 1500 },
  });
  expect(end).toEqual({ status: 'timed_out', after_ms: 1500 });
  expect(stdout.bytes).toBeGreaterThan(10 * mib);
  expect(stdout.text.length).toBeLessThan(1100);
  expect(processesWith(word)).toEqual([]);
});

test('output of exactly the limit is allowed', async () => {
  const { end, stdout } = await host.run(host.makeWorkspace(), 'head -c 100000 /dev/zero', {
    ...{ limits: { output_bytes: 100_000 }, over_output: 'kill' },
  });
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect(stdout.bytes).toBe(100_000);
});

test('a busy loop ends at its CPU limit', async () => {
  const { end } = await host.run(host.makeWorkspace(), 'while :; do :; done', { limits: { cpu_seconds: 1 } });
  expect(end).toEqual({ status: 'quota', quota: 'cpu', limit: 1 });
});

test('a busy loop that ignores SIGXCPU ends too', async () => {
  const { end } = await host.run(host.makeWorkspace(), "trap '' XCPU; while :; do :; done", {
    limits: { cpu_seconds: 1 },
  });
  expect(end).toEqual({ status: 'exited', exit_code: 137, signal: 'SIGKILL' });
});

test('an exit code that looks like SIGXCPU is reported as an exit', async () => {
  const { end } = await host.run(host.makeWorkspace(), 'exit 152');
  expect(end).toMatchObject({ status: 'exited', exit_code: 152 });
});

test('no file grows past its limit', async ({ workspace }) => {
  const limits = { file_bytes: mib };
  const { end } = await host.run(workspace, 'exec head -c 5000000 /dev/zero > big', { limits });
  expect(end).toEqual({ status: 'quota', quota: 'file_size', limit: mib });
  expect(statSync(join(workspace.path, 'big')).size).toBe(mib);
  const sparse = await host.run(workspace, 'truncate -s 1T sparse || echo refused', { limits });
  expect(sparse.stdout.text + sparse.stderr.text).toMatch(/refused|File size limit/);
  expect(statSync(join(workspace.path, 'sparse'), { throwIfNoEntry: false })?.size ?? 0).toBeLessThanOrEqual(mib);
});

test('/tmp and /dev/shm are limited, and the rest of /dev is read-only', async () => {
  const line =
    'for d in /tmp /dev/shm /dev; do head -c 200000000 /dev/zero > $d/fill; stat -c %s $d/fill; done 2>/dev/null';
  const { stdout } = await host.run(host.makeWorkspace(), line);
  expect(stdout.text).toBe(`${64 * mib}\n${16 * mib}\n`);
});

test('a fork bomb stays within the process limit', async ({ workspace, word }) => {
  const count = `
import os, time
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except BlockingIOError as error:
    print(made, error.errno)
`;
  const limits = { processes: 40 };
  const { stdout } = await host.run(workspace, `: ${word}; /usr/bin/python3 -c "$COUNT"`, {
    env: { COUNT: count },
    limits,
  });
  expect(processesWith(word)).toEqual([]);
  const [made, errno] = stdout.text.split(' ').map(Number);
  expect(errno).toBe(11);
  expect(made).toBeGreaterThan(20);
  expect(made).toBeLessThan(40);
  const bomb = await host.run(workspace, `: ${word}; b() { b | b & }; b; wait`, {
    limits: { ...limits, wall_ms: 1000 },
  });
  expect(processesWith(word)).toEqual([]);
  expect(['exited', 'timed_out', 'quota']).toContain(bomb.end.status);
});

test('the process limit counts only the processes of the sandbox', async ({ workspace }) => {
  const held = Array.from({ length: 6 }, () =>
    host.run(workspace, 'sleep 1000 & sleep 1000 & sleep 1000', { limits: { wall_ms: 2000 } }),
  );
  const { end } = await host.run(workspace, 'sleep 0 & sleep 0 & wait', { limits: { processes: 6 } });
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  await Promise.all(held);
});

test('without control groups a process stays within its memory limit', async ({ workspace }) => {
  await using second = await openSandbox({ ...host.options, cgroups: false });
  const run = (...argv: [string, ...string[]]) =>
    second.run({ workspace, argv, limits: { memory_bytes: 1024 * mib }, signal: new AbortController().signal });
  const greedy = await run('/bin/bash', '-c', '/usr/bin/python3 -c "bytearray(1100 << 20)" 2>&1 | tail -1');
  expect(greedy.stdout.text).toBe('MemoryError\n');
  // Reserves 10 GiB of addresses, which a limit on address space would refuse.
  const wasm = await run('/opt/holdpoint/node/bin/node', '-e', 'new WebAssembly.Memory({initial: 1}); console.log(1)');
  expect(wasm.stdout.text).toBe('1\n');
});

test('a stricter limit of the host stays, and the others are set', async ({ workspace }) => {
  const program = `
    import { openSandbox } from ${JSON.stringify(new URL('open-sandbox.ts', import.meta.url).href)};
    const [options, command] = process.argv.slice(1).map((text) => JSON.parse(text));
    await using sandbox = await openSandbox(options);
    process.stdout.write((await sandbox.run({ ...command, signal: new AbortController().signal })).stdout.text);
  `;
  const argv = ['/bin/bash', '-c', 'ulimit -f; ulimit -n; ulimit -c; ulimit -St; ulimit -Ht'];
  const command = { workspace, argv, limits: { file_bytes: 1024 * mib, open_files: 77, cpu_seconds: 50 } };
  const stateDir = join(host.directory, 'limited-state');
  const args = [{ ...host.options, stateDir }, command].map((value) => JSON.stringify(value));
  const line = 'ulimit -f 4096; exec "$@"';
  const node = [process.execPath, '--input-type=module', '-e', program, ...args];
  const { stdout } = await promisify(execFile)('/bin/bash', ['-c', line, 'bash', ...node]);
  expect(stdout.split('\n')).toEqual(['4096', '77', '0', '50', '51', '']);
});

test('an invalid limit is refused before anything runs', async ({ workspace }) => {
  for (const limits of [{ wall_ms: 0 }, { processes: -1 }, { output_bytes: 1.5 }, { wall_ms: 2 ** 40 }]) {
    await rejects(host.run(workspace, 'true', { limits }), 'ECOMMANDINVALID', { retryable: false });
  }
});
