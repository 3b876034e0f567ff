import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageNumbers } from '../src/index.js';

describe('pageNumbers', () => {
  it('shows all pages while there are few', () => {
    assert.deepEqual(pageNumbers({ page: 2, pageCount: 3 }), [1, 2, 3]);
    assert.deepEqual(pageNumbers({ page: 1, pageCount: 1 }), [1]);
  });

  it('leaves gaps on both sides', () => {
    assert.deepEqual(pageNumbers({ page: 6, pageCount: 12 }), [1, null, 5, 6, 7, null, 12]);
  });

  it('fills a gap of one page', () => {
    assert.deepEqual(pageNumbers({ page: 4, pageCount: 9 }), [1, 2, 3, 4, 5, null, 9]);
  });
});
