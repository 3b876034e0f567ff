import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Router } from '../lib/router.js';

const router = new Router()
  .add('/', 'home')
  .add('/users', 'list')
  .add('/users/:id', 'show')
  .add('/users/:id/posts/:post', 'post')
  .add('/files/*', 'file');

test('finds routes', () => {
  assert.equal(router.find('/').handler, 'home');
  assert.equal(router.find('/users/').handler, 'list');
  assert.deepEqual(router.find('/users/7').params, { id: '7' });
  assert.deepEqual(router.find('/users/7/posts/9').params, { id: '7', post: '9' });
  assert.equal(router.find('/nothing'), undefined);
});

test('the rest of a path', () => {
  assert.deepEqual(router.find('/files/a/b.txt').params, { rest: 'a/b.txt' });
});
