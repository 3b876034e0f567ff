import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestHost } from '../testing/host.ts';
import { findBwrap, openIntegrityCheck } from './host-tools.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdpoint-integrity-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function program(directory: string, version: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'bwrap');
  writeFileSync(path, `#!/bin/sh\necho bubblewrap ${version}\n`, { mode: 0o755 });
  return path;
}

/** The layout that the set-up leaves. */
function unpack(): string {
  const path = program(join(root, 'unpacked/usr/bin'), '0.8.0');
  mkdirSync(join(root, 'unpacked/bin'));
  symlinkSync('../usr/bin/bwrap', join(root, 'unpacked/bin/bwrap'));
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  writeFileSync(join(root, 'unpacked/unpacked.json'), JSON.stringify({ 'usr/bin/bwrap': { sha256, mode: 0o755 } }));
  return path;
}

const find = (path = '') => findBwrap({ candidates: [], unpacked: join(root, 'unpacked'), path });
const refusal = (message: string) =>
  expect.objectContaining({
    code: 'ESANDBOXCHANGED',
    message: expect.stringContaining(message),
    next: expect.stringContaining('npm run setup'),
  });
const openFound = () => openIntegrityCheck(find() ?? expect.fail('found none'));

test('the unpacked program passes as recorded, whatever its time stamps', () => {
  const path = unpack();
  const integrity = openFound();
  integrity.check();
  utimesSync(path, 0, 0);
  integrity.check();
});

test.each([
  ['mode 0', (path: string) => chmodSync(path, 0o700), 'its mode is 700, not 755'],
  ['set-user-id', (path: string) => chmodSync(path, 0o4755), 'its mode is 4755, not 755'],
  ['writable for all', (path: string) => chmodSync(path, 0o777), 'other users may write to it'],
  ['changed content', (path: string) => writeFileSync(path, 'x'), 'its content has changed'],
  ['gone', (path: string) => rmSync(path), 'it is gone'],
])('a changed bubblewrap is refused with what to do next: %s', (_name, change, message) => {
  const path = unpack();
  const integrity = openFound();
  change(path);
  expect(() => integrity.check()).toThrow(refusal(message));
  if (message !== 'it is gone') expect(openFound).toThrow(refusal(message));
});

test('an unpacked program without its record is refused', () => {
  unpack();
  rmSync(join(root, 'unpacked/unpacked.json'));
  expect(openFound).toThrow(refusal('the record'));
});

test('a configured program is refused once it has changed', () => {
  const path = program(join(root, 'named'), '0.8.0');
  const integrity = openIntegrityCheck({ path, isRootOwned: false, unpacked: null });
  integrity.check();
  writeFileSync(path, 'x');
  expect(() => integrity.check()).toThrow(refusal('its content has changed'));
});

test.runIf(process.getuid?.() === 0)("the system's program is preferred when root owns it and it is new enough", () => {
  unpack();
  const old = program(join(root, 'old'), '0.6.1');
  const current = program(join(root, 'current'), '0.11.0');
  const open = program(join(root, 'open'), '0.11.0');
  chmodSync(open, 0o777);
  const directories = (...paths: string[]) => paths.map((path) => join(path, '..')).join(':');
  expect(find(directories(old, open, current))).toEqual({ path: current, isRootOwned: true, unpacked: null });
  expect(find(directories(old, open))).toMatchObject({ unpacked: join(root, 'unpacked') });
  rmSync(join(root, 'unpacked'), { recursive: true });
  expect(find(directories(old, open))).toMatchObject({ path: old });
});

test('a changed bubblewrap runs no command until its mode is restored', async () => {
  await using host = await openTestHost();
  const copy = join(host.directory, 'bwrap');
  copyFileSync(host.bwrap, copy);
  chmodSync(copy, 0o755);
  await using other = await openTestHost({ bwrapPath: copy });
  const workspace = other.makeWorkspace();
  chmodSync(copy, 0o777);
  await expect(other.run(workspace, 'echo ran')).rejects.toMatchObject({ code: 'ESANDBOXCHANGED', retryable: false });
  await expect(other.sandbox.files(workspace).list('.')).rejects.toMatchObject({ code: 'ESANDBOXCHANGED' });
  chmodSync(copy, 0o755);
  expect((await other.run(workspace, 'echo ran')).stdout.text).toBe('ran\n');
});
