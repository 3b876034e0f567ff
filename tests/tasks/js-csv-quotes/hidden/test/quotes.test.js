import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from '../src/index.js';

test('doubled quotes are one quote', () => {
  assert.deepEqual(parse('a\n"say ""hi"""\n'), [{ a: 'say "hi"' }]);
  assert.deepEqual(parse('a,b\n"""",""\n'), [{ a: '"', b: '' }]);
});

test('a quoted field has line breaks', () => {
  assert.deepEqual(parse('a,b\n"one\ntwo",3\n4,5\n'), [
    { a: 'one\ntwo', b: '3' },
    { a: '4', b: '5' },
  ]);
});

test('what is written is read back', () => {
  const rows = [
    { note: 'a "b", c', more: 'x\ny' },
    { note: '"', more: '""\n"' },
    { note: '\n', more: '' },
  ];
  assert.deepEqual(parse(stringify(rows)), rows);
  assert.deepEqual(parse(stringify(rows, { delimiter: ';' }), { delimiter: ';' }), rows);
});

test('line breaks of Windows between records', () => {
  assert.deepEqual(parse('a\r\n1\r\n"2"\r\n'), [{ a: '1' }, { a: '2' }]);
});
