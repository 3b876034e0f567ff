import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../src/emitter.ts';

test('every once listener is called, in order', () => {
  const emitter = new Emitter();
  const calls: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) emitter.once('x', () => calls.push(name));
  assert.equal(emitter.emit('x'), 4);
  assert.deepEqual(calls, ['a', 'b', 'c', 'd']);
  assert.equal(emitter.emit('x'), 0);
});

test('a once listener that emits again is called once', () => {
  const emitter = new Emitter();
  let calls = 0;
  emitter.once('x', () => {
    calls += 1;
    if (calls < 5) emitter.emit('x');
  });
  emitter.emit('x');
  assert.equal(calls, 1);
});

test('a listener that throws is still once, and later ones stay', () => {
  const emitter = new Emitter();
  let calls = 0;
  emitter.once('x', () => {
    calls += 1;
    throw new Error('no');
  });
  assert.throws(() => emitter.emit('x'));
  emitter.emit('x');
  assert.equal(calls, 1);
});

test('the function of on and once removes its own listener', () => {
  const emitter = new Emitter();
  const calls: number[] = [];
  const listener = () => calls.push(1);
  const removeFirst = emitter.on('x', listener);
  emitter.once('x', listener);
  removeFirst();
  removeFirst();
  assert.deepEqual(emitter.listeners('x'), ['listener (once)']);
});

test('who is removed during an event is not called; who is added is called next time', () => {
  const emitter = new Emitter();
  const calls: string[] = [];
  const remove: (() => void)[] = [];
  emitter.on('x', () => {
    calls.push('a');
    for (const one of remove.splice(0)) one();
    if (calls.length === 1) emitter.on('x', () => calls.push('late'));
  });
  remove.push(emitter.on('x', () => calls.push('b')));
  emitter.on('x', () => calls.push('c'));
  emitter.emit('x');
  assert.deepEqual(calls, ['a', 'c']);
  emitter.emit('x');
  assert.deepEqual(calls, ['a', 'c', 'a', 'c', 'late']);
});
