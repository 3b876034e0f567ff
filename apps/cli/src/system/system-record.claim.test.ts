import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { identify, isAlive } from './process-identity.ts';
import { claim, readSystemRecord, release, type SystemRecord, updateSystemRecord } from './system-record.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-record-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const recordOf = (pid: number, began: string): SystemRecord => ({
  ...{ format: 1, pid, began, started_at: '2026-01-01T00:00:00Z', address: null, redis_socket: null, children: [] },
});
const own = (): SystemRecord => recordOf(process.pid, identify(process.pid)?.began ?? '');
/** A process that ended: its pid may be anybody's by now, the moment it began is not. */
const dead = (): SystemRecord => recordOf(process.pid, 'another time');

it('takes a free directory, and nobody else can', () => {
  expect(claim(dataDir, own())).toEqual({ taken: true });
  expect(claim(dataDir, own())).toEqual({ taken: false, by: own() });
  release(dataDir, process.pid);
  expect(readSystemRecord(dataDir)).toBeUndefined();
});

it('takes over from a dead process, and hands on what it left', () => {
  const children = [{ name: 'api', pid: 4, began: 'x' }];
  claim(dataDir, { ...dead(), children });
  expect(claim(dataDir, own())).toEqual({ taken: true, left: { ...dead(), children } });
  expect(readSystemRecord(dataDir)).toEqual(own());
  expect(readdirSync(dataDir)).toEqual(['up.json']);
});

it.each([
  ['empty', ''],
  ['full of zero bytes', '\0'.repeat(300)],
])('takes a directory whose record a power failure left %s', (_, text) => {
  writeFileSync(join(dataDir, 'up.json'), text);
  expect(readSystemRecord(dataDir)).toBeUndefined();
  expect(claim(dataDir, own())).toEqual({ taken: true });
  expect(readSystemRecord(dataDir)).toEqual(own());
  expect(readdirSync(dataDir)).toEqual(['up.json']);
});

it('writes what changes, for this user alone', () => {
  claim(dataDir, own());
  updateSystemRecord(dataDir, { ...own(), address: 'http://127.0.0.1:1' });
  expect(readSystemRecord(dataDir)?.address).toBe('http://127.0.0.1:1');
});

it('does not release what another process has', () => {
  claim(dataDir, recordOf(1, 'init'));
  release(dataDir, process.pid);
  expect(readSystemRecord(dataDir)?.pid).toBe(1);
});

it('refuses a file that is no record', () => {
  writeFileSync(join(dataDir, 'up.json'), '{}');
  expect(() => readSystemRecord(dataDir)).toThrow(/not a record/);
});

it('tells a process from a later one with the same pid, and knows when it is gone', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = identify(child.pid ?? 0);
  expect(identity && isAlive(identity)).toBe(true);
  expect(identity && isAlive({ ...identity, began: 'another time' })).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(identity && isAlive(identity)).toBe(false);
});
