import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { bwrapCandidates, useTestHost } from './testing/host.ts';

const mib = 1024 * 1024;

const { host } = useTestHost();

/** Runs in a separate process, so that only the output uses its memory. */
async function flood(line: string, limit: number, way: 'result' | 'writer' = 'result') {
  const { path, uid } = host.makeWorkspace();
  const { bwrap } = findHostTools({ bwrapCandidates, path: '/usr/local/bin:/usr/bin:/bin' });
  const program = fileURLToPath(new URL('testing/flood-process.ts', import.meta.url));
  const args = [
    '--expose-gc',
    program,
    join(host.directory, 'flood-state'),
    bwrap,
    String(uid),
    path,
    line,
    String(limit),
    way,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as { grown: number; end: unknown; bytes: number; kept: number; taken: number };
}

test('output over the limit does not grow the worker', async () => {
  const { grown, end, bytes, kept } = await flood('head -c 200M /dev/zero', mib);
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect([bytes, kept < 66_000]).toEqual([200 * mib, true]);
  expect(grown).toBeLessThan(64 * mib);
});

test('2 GiB of allowed output do not grow the worker', async () => {
  const { grown, end, bytes, kept } = await flood('head -c 2G /dev/zero', 2048 * mib);
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect(bytes).toBe(2048 * mib);
  expect(kept).toBeLessThan(66_000);
  expect(grown).toBeLessThan(64 * mib);
});

test('2 GiB to an output writer pass the limit without growing the worker', async () => {
  const { grown, end, bytes, kept, taken } = await flood('head -c 2G /dev/zero', mib, 'writer');
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect([bytes, kept, taken]).toEqual([2048 * mib, 0, 2048 * mib]);
  expect(grown).toBeLessThan(64 * mib);
});
