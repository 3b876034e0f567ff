import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseArguments } from '../src/arguments.js';

const pinboard = (...args) => execFileSync(process.execPath, ['bin/pinboard.js', ...args], { encoding: 'utf8' });
const optionsOf = (...argv) => parseArguments(argv).options;

test('a value behind an equals sign', () => {
  assert.deepEqual(optionsOf('--limit=2').limit, 2);
  assert.deepEqual([optionsOf('--tag=a=b').tag].flat(), ['a=b']);
  assert.deepEqual([optionsOf('--tag=').tag].flat(), ['']);
  assert.throws(() => parseArguments(['--color=yes']), /--color/);
  assert.throws(() => parseArguments(['--limit=x']), /whole number/);
});

test('a flag that is switched off; the last word counts', () => {
  assert.equal(Boolean(optionsOf('--color', '--no-color').color), false);
  assert.equal(optionsOf('--no-color', '--color').color, true);
  assert.throws(() => parseArguments(['--no-tag']), /no-tag/);
  assert.throws(() => parseArguments(['--no-nothing']), /no-nothing/);
});

test('several tags: notes with each of them', () => {
  assert.equal(pinboard('test/notes.json', '--tag', 'work', '--tag=urgent'), 'Report [work, urgent]\n');
  assert.equal(pinboard('test/notes.json', '--tag=work'), 'Report [work, urgent]\nReview [work]\n');
  assert.equal(pinboard('test/notes.json').split('\n').length, 4);
});

test('all behind -- are files', () => {
  assert.deepEqual(parseArguments(['--color', '--', '--tag', 'b.json']).files, ['--tag', 'b.json']);
});

test('usage and README have the new forms', () => {
  assert.match(pinboard('--help'), /--no-color/);
  assert.match(readFileSync('README.md', 'utf8'), /--no-color/);
});
