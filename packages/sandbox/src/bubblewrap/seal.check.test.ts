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
import { openTestHost } from '../test-host.ts';
import { findBwrap } from './find-bwrap.ts';
import { seal } from './seal.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdpoint-seal-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function program(directory: string, version: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'bwrap');
  writeFileSync(path, `#!/bin/sh\necho bubblewrap ${version}\n`, { mode: 0o755 });
  return path;
}

/** As the set-up leaves it. */
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
const sealFound = () => seal(find() ?? expect.fail('found none'));

test('the unpacked program passes as it was recorded, however often and whatever its time stamps', () => {
  const path = unpack();
  const sealed = sealFound();
  sealed.check();
  utimesSync(path, 0, 0);
  sealed.check();
});

test.each([
  ['mode 0', (path: string) => chmodSync(path, 0o700), 'its mode is 700, not 755'],
  ['set-user-id', (path: string) => chmodSync(path, 0o4755), 'its mode is 4755, not 755'],
  ['open to all', (path: string) => chmodSync(path, 0o777), 'other users may write to it'],
  ['other content', (path: string) => writeFileSync(path, 'x'), 'its content has changed'],
  ['gone', (path: string) => rmSync(path), 'it is gone'],
])('a change is refused with what to do next: %s', (_name, change, message) => {
  const path = unpack();
  const sealed = sealFound();
  change(path);
  expect(() => sealed.check()).toThrow(refusal(message));
  if (message !== 'it is gone') expect(sealFound).toThrow(refusal(message));
});

test('without its record the unpacked program is not used', () => {
  unpack();
  rmSync(join(root, 'unpacked/unpacked.json'));
  expect(sealFound).toThrow(refusal('the record'));
});

test('a named program of this user is sealed as the worker finds it', () => {
  const path = program(join(root, 'named'), '0.8.0');
  const sealed = seal({ path, isRoots: false, unpacked: null });
  sealed.check();
  writeFileSync(path, 'x');
  expect(() => sealed.check()).toThrow(refusal('its content has changed'));
});

test.runIf(process.getuid?.() === 0)(
  "the system's program is preferred when it belongs to root and is new enough",
  () => {
    unpack();
    const old = program(join(root, 'old'), '0.6.1');
    const current = program(join(root, 'current'), '0.11.0');
    const open = program(join(root, 'open'), '0.11.0');
    chmodSync(open, 0o777);
    const directories = (...paths: string[]) => paths.map((path) => join(path, '..')).join(':');
    expect(find(directories(old, open, current))).toEqual({ path: current, isRoots: true, unpacked: null });
    expect(find(directories(old, open))).toMatchObject({ unpacked: join(root, 'unpacked') });
    rmSync(join(root, 'unpacked'), { recursive: true });
    expect(find(directories(old, open))).toMatchObject({ path: old });
  },
);

test('a command is not run once bubblewrap was changed; with the old mode it is', async () => {
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
