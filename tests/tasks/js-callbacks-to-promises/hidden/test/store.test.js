import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { search } from '../src/search.js';
import { openStore } from '../src/store.js';

const folder = () => mkdtempSync(join(tmpdir(), 'notes-'));

test('promises', async () => {
  const store = await openStore(join(folder(), 'a', 'b'));
  assert.equal(await store.write('b', 'two words'), undefined);
  await store.write('a', 'words');
  assert.equal(await store.read('a'), 'words');
  assert.equal(await store.read('none'), null);
  assert.deepEqual(await store.list(), ['a', 'b']);
  assert.deepEqual(await search(store, 'words'), ['a', 'b']);
  assert.deepEqual(await search(store, 'zzz'), []);
});

test('wrong names reject and do not throw', async () => {
  const store = await openStore(folder());
  const reading = store.read('../x');
  assert.ok(reading instanceof Promise);
  await assert.rejects(reading, TypeError);
  await assert.rejects(store.write('A', 'x'), TypeError);
});

test('errors reach the caller of search', async () => {
  const at = folder();
  const store = await openStore(at);
  await store.write('ok', 'word');
  mkdirSync(join(at, 'broken.txt'));
  await assert.rejects(store.read('broken'), { code: 'EISDIR' });
  await assert.rejects(search(store, 'word'), { code: 'EISDIR' });
});

test('a folder that cannot be made', async () => {
  const at = join(folder(), 'file');
  writeFileSync(at, '');
  await assert.rejects(openStore(at));
  const ended = spawnSync(process.execPath, ['src/cli.js', at, 'list'], { encoding: 'utf8' });
  assert.equal(ended.status, 1);
  assert.equal(ended.stderr.trim().split('\n').length, 1);
});

test('the command', () => {
  const at = folder();
  const cli = (...args) => execFileSync(process.execPath, ['src/cli.js', at, ...args], { encoding: 'utf8' });
  cli('write', 'one', 'hello world');
  cli('write', 'two', 'hello');
  assert.equal(cli('read', 'one'), 'hello world\n');
  assert.equal(cli('search', 'world'), 'one\n');
  assert.equal(cli('list'), 'one\ntwo\n');
  const ended = spawnSync(process.execPath, ['src/cli.js', at, 'read', '../x'], { encoding: 'utf8' });
  assert.equal(ended.status, 1);
  assert.equal(ended.stderr, 'not a name: ../x\n');
});

test('no callbacks are left', () => {
  for (const file of ['src/store.js', 'src/search.js', 'src/cli.js', 'README.md']) assert.doesNotMatch(readFileSync(file, 'utf8'), /\(error, |done/);
});
