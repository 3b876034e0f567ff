import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../src/emitter.ts';
import { Pipeline } from '../src/pipeline.ts';

test('listeners are called in order', () => {
  const emitter = new Emitter();
  const calls: string[] = [];
  emitter.on('x', () => calls.push('a'));
  emitter.on('x', () => calls.push('b'));
  assert.equal(emitter.emit('x'), 2);
  assert.deepEqual(calls, ['a', 'b']);
});

test('once is once', () => {
  const emitter = new Emitter();
  let calls = 0;
  emitter.once('x', () => (calls += 1));
  emitter.emit('x');
  emitter.emit('x');
  assert.equal(calls, 1);
});

test('a pipeline reports its stages', () => {
  const seen: unknown[] = [];
  const pipeline = new Pipeline().stage('double', (n) => Number(n) * 2).stage('text', String);
  pipeline.on('stage', (name) => seen.push(name));
  assert.equal(pipeline.run(4), '8');
  assert.deepEqual(seen, ['double', 'text']);
});
