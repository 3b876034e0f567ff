import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoryId } from '@holdpoint/process/directory';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { identify, isAlive } from './processes.ts';
import {
  claim,
  findSystem,
  readSystemRecord,
  release,
  type SystemRecord,
  updateSystemRecord,
} from './system-record.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-record-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const recordOf = (pid: number, began: string): SystemRecord => ({
  ...{ format: 1, pid, began, started_at: '2026-01-01T00:00:00Z', address: null, redis_socket: null, children: [] },
});
const own = (): SystemRecord => recordOf(process.pid, identify(process.pid)?.began ?? '');
/** An ended process: its pid may be in use again, but with another start time. */
const dead = (): SystemRecord => recordOf(process.pid, 'another time');

it('claims a free directory once', () => {
  expect(claim(dataDir, own())).toEqual({ taken: true });
  expect(claim(dataDir, own())).toEqual({ taken: false, by: own() });
  release(dataDir, process.pid);
  expect(readSystemRecord(dataDir)).toBeUndefined();
});

it('claims the directory of a dead process and returns its record', () => {
  const children = [{ name: 'api', pid: 4, began: 'x' }];
  claim(dataDir, { ...dead(), children });
  expect(claim(dataDir, own())).toEqual({ taken: true, left: { ...dead(), children } });
  expect(readSystemRecord(dataDir)).toEqual(own());
  expect(readdirSync(dataDir)).toEqual(['up.json']);
});

it.each([
  ['empty', ''],
  ['full of zero bytes', '\0'.repeat(300)],
])('claims a directory whose record a power failure left %s', (_, text) => {
  writeFileSync(join(dataDir, 'up.json'), text);
  expect(readSystemRecord(dataDir)).toBeUndefined();
  expect(claim(dataDir, own())).toEqual({ taken: true });
  expect(readSystemRecord(dataDir)).toEqual(own());
  expect(readdirSync(dataDir)).toEqual(['up.json']);
});

it('treats the record of another directory as dead, and none of its processes as left over', () => {
  const children = [{ name: 'api', ...(identify(process.pid) ?? { pid: 0, began: '' }) }];
  const other = mkdtempSync(join(tmpdir(), 'hp-record-'));
  claim(other, { ...own(), directory: directoryId(other), children });
  expect(findSystem(other)).toMatchObject({ isUp: true });
  cpSync(join(other, 'up.json'), join(dataDir, 'up.json'));
  expect(findSystem(dataDir)).toBeUndefined();
  expect(claim(dataDir, { ...own(), directory: directoryId(dataDir) })).toEqual({ taken: true });
  expect(findSystem(dataDir)?.isUp).toBe(true);
  expect(readSystemRecord(other)?.directory).toBe(directoryId(other));
  rmSync(other, { recursive: true });
});

it('claims a directory whose device number was another one at an earlier boot', () => {
  claim(dataDir, { ...dead(), directory: '1:1' });
  expect(claim(dataDir, { ...own(), directory: directoryId(dataDir) })).toEqual({ taken: true });
  expect(findSystem(dataDir)?.isUp).toBe(true);
});

it('updates the record', () => {
  claim(dataDir, own());
  updateSystemRecord(dataDir, { ...own(), address: 'http://127.0.0.1:1' });
  expect(readSystemRecord(dataDir)?.address).toBe('http://127.0.0.1:1');
});

it('does not release the claim of another process', () => {
  claim(dataDir, recordOf(1, 'init'));
  release(dataDir, process.pid);
  expect(readSystemRecord(dataDir)?.pid).toBe(1);
});

it('rejects a file that is no record', () => {
  writeFileSync(join(dataDir, 'up.json'), '{}');
  expect(() => readSystemRecord(dataDir)).toThrow(/not a record/);
});

it('distinguishes a process from a later one with the same pid', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = identify(child.pid ?? 0);
  expect(identity && isAlive(identity)).toBe(true);
  expect(identity && isAlive({ ...identity, began: 'another time' })).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(identity && isAlive(identity)).toBe(false);
});
