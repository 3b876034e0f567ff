import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { bwrapCandidates, openTestHost, type TestHost } from './test-host.ts';

const MIB = 1024 * 1024;

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

/** In a process of its own, whose memory nothing else fills. */
async function flood(line: string, limit: number, way: 'result' | 'writer' = 'result') {
  const { path, uid } = host.makeWorkspace();
  const { bwrap } = findHostTools({ bwrapCandidates, path: '/usr/local/bin:/usr/bin:/bin' });
  const program = fileURLToPath(new URL('test-flood.ts', import.meta.url));
  const args = [program, join(host.directory, 'flood-state'), bwrap, String(uid), path, line, String(limit), way];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as { grown: number; end: unknown; bytes: number; kept: number; taken: number };
}

test('a command that prints 10 GB is cut at its limit, and the worker stays small', async () => {
  const { grown, end, bytes } = await flood('head -c 10G /dev/zero', 10 * MIB);
  expect(end).toEqual({ status: 'quota', quota: 'output', limit: 10 * MIB });
  expect(bytes).toBe(10 * MIB);
  expect(grown).toBeLessThan(64 * MIB);
});

test('one that may print 2 GiB does, and the worker stays small', async () => {
  const { grown, end, bytes, kept } = await flood('head -c 2G /dev/zero', 2048 * MIB);
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect(bytes).toBe(2048 * MIB);
  expect(kept).toBeLessThan(66_000);
  expect(grown).toBeLessThan(64 * MIB);
});

test('2 GiB that go somewhere else pass through, whatever the limit, and the worker stays small', async () => {
  const { grown, end, bytes, kept, taken } = await flood('head -c 2G /dev/zero', MIB, 'writer');
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect([bytes, kept, taken]).toEqual([2048 * MIB, 0, 2048 * MIB]);
  expect(grown).toBeLessThan(64 * MIB);
});
