import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageCount, paginate } from '../src/index.js';

const list = (length) => Array.from({ length }, (_, index) => index + 1);

describe('paginate', () => {
  it('cuts out the first page by default', () => {
    const page = paginate(list(45));
    assert.deepEqual(page.items, list(20));
    assert.equal(page.previous, null);
    assert.equal(page.next, 2);
  });

  it('cuts a shorter last page', () => {
    const page = paginate(list(45), { page: 3 });
    assert.deepEqual(page.items, [41, 42, 43, 44, 45]);
    assert.equal(page.next, null);
  });

  it('has no page after a last page that is full', () => {
    const page = paginate(list(40), { page: 2 });
    assert.equal(page.items.length, 20);
    assert.equal(page.pageCount, 2);
    assert.equal(page.next, null);
  });

  it('shows the last page for one past the end', () => {
    assert.deepEqual(paginate(list(30), { page: 9, perPage: 10 }).items, [21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
  });

  it('gives an empty list one empty page', () => {
    const page = paginate([]);
    assert.deepEqual([page.items, page.page, page.pageCount, page.next], [[], 1, 1, null]);
  });

  it('refuses what is no page', () => {
    for (const page of [0, -1, 1.5, Number.NaN]) assert.throws(() => paginate(list(3), { page }), RangeError);
    for (const perPage of [0, 201, 2.5]) assert.throws(() => paginate(list(3), { perPage }), RangeError);
  });
});

describe('pageCount', () => {
  it('counts a page that is not full', () => {
    assert.equal(pageCount(41, 20), 3);
    assert.equal(pageCount(1, 20), 1);
    assert.equal(pageCount(0, 20), 1);
  });
});
