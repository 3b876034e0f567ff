import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkHeader, paginate } from '../src/index.js';

const url = 'https://shop.example/orders?state=open';
const link = (page, relation) => `<${url}&page=${page}&per_page=10>; rel="${relation}"`;

describe('linkHeader', () => {
  it('names all four neighbours', () => {
    const page = paginate(Array(45).fill('order'), { page: 3, perPage: 10 });
    const expected = [link(1, 'first'), link(2, 'prev'), link(4, 'next'), link(5, 'last')].join(', ');
    assert.equal(linkHeader(page, url), expected);
  });

  it('does not lead from the last page to an empty one', () => {
    const page = paginate(Array(30).fill('order'), { page: 3, perPage: 10 });
    assert.equal(linkHeader(page, url), [link(1, 'first'), link(2, 'prev'), link(3, 'last')].join(', '));
  });
});
