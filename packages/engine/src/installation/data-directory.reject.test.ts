import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDataDirectory, makeDataDirectory } from './make-data-directory.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hp-data-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const unusable = (why: string) =>
  expect.objectContaining({
    code: 'data_directory_unusable',
    message: expect.stringContaining(why),
    next: expect.stringContaining('Set HOLDPOINT_DATA'),
  });

test.each(['/proc', '/proc/x', '/proc/1/x/y', '/sys/x', '/sys/kernel/x', '/dev', '/dev/x/y'])(
  '%s is refused and not waited for',
  (place) => {
    for (const use of [makeDataDirectory, checkDataDirectory])
      expect(() => use(place)).toThrow(unusable("the kernel's files"));
  },
);

test('a link into the files of the kernel is refused', () => {
  symlinkSync('/proc', join(directory, 'link'));
  expect(() => makeDataDirectory(join(directory, 'link/x'))).toThrow(unusable("the kernel's files"));
});

test('a place below a file says why it cannot be made', () => {
  writeFileSync(join(directory, 'file'), '');
  expect(() => makeDataDirectory(join(directory, 'file/x'))).toThrow(unusable('ENOTDIR'));
  expect(() => makeDataDirectory(join(directory, 'file'))).toThrow(unusable('EEXIST'));
});

test('missing parents are made for this user alone, and what exists stays as it is', () => {
  const place = join(directory, 'a/b/c');
  makeDataDirectory(place);
  for (const one of ['a', 'a/b', 'a/b/c']) expect(statSync(join(directory, one)).mode & 0o777).toBe(0o700);
  mkdirSync(join(place, 'runs'));
  makeDataDirectory(place);
  expect(statSync(join(place, 'runs')).isDirectory()).toBe(true);
});
