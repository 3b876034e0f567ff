import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Router } from '../lib/router.js';

const patterns = ['/*', '/users/:id', '/users/new', '/users/*', '/:section/new', '/users/:id/edit', '/users/me/:tab'];

for (const order of [patterns, patterns.toReversed(), patterns.toSorted()]) {
  test(`the most exact route wins: ${order.join(' ')}`, () => {
    const router = new Router();
    for (const pattern of order) router.add(pattern, pattern);
    const found = (path) => router.find(path)?.handler;
    assert.equal(found('/users/new'), '/users/new');
    assert.equal(found('/users/7'), '/users/:id');
    assert.equal(found('/posts/new'), '/:section/new');
    assert.equal(found('/users/7/edit'), '/users/:id/edit');
    assert.equal(found('/users/me/edit'), '/users/me/:tab');
    assert.equal(found('/users/7/x/y'), '/users/*');
    assert.equal(found('/about'), '/*');
  });
}

test('the same pattern twice: the first one', () => {
  assert.equal(new Router().add('/a/:x', 1).add('/a/:y', 2).find('/a/b').handler, 1);
});

test('a rest has at least one segment', () => {
  assert.equal(new Router().add('/files/*', 'file').find('/files'), undefined);
});

test('parameters are decoded once, and wrong ones match nothing', () => {
  const router = new Router().add('/tags/:tag', 'tag').add('/files/*', 'file');
  assert.deepEqual(router.find('/tags/a%20b%2Fc').params, { tag: 'a b/c' });
  assert.deepEqual(router.find('/tags/%2525').params, { tag: '%25' });
  assert.deepEqual(router.find('/files/a%20b/c').params, { rest: 'a b/c' });
  assert.equal(router.find('/tags/%E0%A4%A'), undefined);
});
