import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { search } from '../src/search.js';
import { openStore } from '../src/store.js';

const open = () => promisify(openStore)(mkdtempSync(join(tmpdir(), 'notes-')));
const call = (store, name, ...args) => promisify(store[name].bind(store))(...args);

test('writes, reads and lists', async () => {
  const store = await open();
  await call(store, 'write', 'b-note', 'two');
  await call(store, 'write', 'a-note', 'one');
  assert.equal(await call(store, 'read', 'a-note'), 'one');
  assert.equal(await call(store, 'read', 'none'), null);
  assert.deepEqual(await call(store, 'list'), ['a-note', 'b-note']);
  assert.deepEqual(await promisify(search)(store, 'tw'), ['b-note']);
});

test('refuses names', async () => {
  const store = await open();
  await assert.rejects(call(store, 'read', '../x'), /not a name/);
});
