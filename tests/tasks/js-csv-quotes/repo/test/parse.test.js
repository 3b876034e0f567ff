import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from '../src/index.js';

test('reads records with a header', () => {
  assert.deepEqual(parse('a,b\n1,2\n3,4\n'), [
    { a: '1', b: '2' },
    { a: '3', b: '4' },
  ]);
});

test('reads rows without a header', () => {
  assert.deepEqual(parse('1,2\r\n3,4', { header: false }), [
    ['1', '2'],
    ['3', '4'],
  ]);
});

test('a quoted field has delimiters', () => {
  assert.deepEqual(parse('a,b\n"x, y",2\n'), [{ a: 'x, y', b: '2' }]);
});

test('another delimiter, and trimmed fields', () => {
  assert.deepEqual(parse('a;b\n 1 ;" 2 "\n', { delimiter: ';', trim: true }), [{ a: '1', b: ' 2 ' }]);
});

test('an empty field at the end', () => {
  assert.deepEqual(parse('a,b\n1,\n'), [{ a: '1', b: '' }]);
});

test('writes records', () => {
  assert.equal(stringify([{ a: 1, b: 'x, y' }]), 'a,b\n1,"x, y"\n');
});
