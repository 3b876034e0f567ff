import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { parseArguments } from '../src/arguments.js';

const pinboard = (...args) => execFileSync(process.execPath, ['bin/pinboard.js', ...args], { encoding: 'utf8' });

test('reads options and files', () => {
  const { options, files } = parseArguments(['a.json', '--tag', 'work', '--limit', '2', '--color']);
  assert.deepEqual(options, { tag: 'work', limit: 2, color: true });
  assert.deepEqual(files, ['a.json']);
});

test('refuses what it does not know', () => {
  assert.throws(() => parseArguments(['--size', '3']), /unknown option --size/);
  assert.throws(() => parseArguments(['--limit', 'x']), /whole number/);
});

test('prints notes', () => {
  assert.equal(pinboard('test/notes.json', '--tag', 'work', '--limit', '1'), 'Report [work, urgent]\n');
});
