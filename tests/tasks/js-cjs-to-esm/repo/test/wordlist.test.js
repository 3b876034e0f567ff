const assert = require('assert');
const { test } = require('node:test');
const { count, formats, language } = require('..');

test('counts', () => {
  assert.deepEqual(count('The cat and the other cat'), { cat: 2, and: 1, other: 1 });
});

test('table and language', () => {
  assert.equal(formats.table({ b: 1, a: 2 }), 'a\t2\nb\t1');
  assert.equal(language, 'en');
});
