import { expect, test } from 'vitest';
import { chooseNext } from './choose-next.ts';

const job = (text: string) => {
  const [tenant = '', run = ''] = text.split('/');
  return { id: text, tenant, run: `${tenant}/${run}` };
};
const chosen = (waiting: string, running: string, most = 9): string =>
  chooseNext(waiting.split(' ').map(job), running === '' ? [] : running.split(' ').map(job), most)
    .map(({ id }) => id)
    .join(' ');

test('a tenant without a job goes before one that has some', () => {
  expect(chosen('a/1 a/2 a/3 b/1', 'a/4 a/5')).toBe('b/1 a/1 a/2 a/3');
});

test('tenants take turns when each has as many, and the first in the queue begins', () => {
  expect(chosen('b/1 b/2 a/1 a/2', '')).toBe('b/1 a/1 b/2 a/2');
});

test('of one tenant, the run that has fewest jobs is next', () => {
  expect(chosen('a/1/x a/1/y a/1/z a/2/x', 'a/1 a/1')).toBe('a/2/x a/1/x a/1/y a/1/z');
});

test('runs that have as many keep the order of the queue', () => {
  expect(chosen('a/1 a/2 a/3', 'a/4')).toBe('a/1 a/2 a/3');
});

test('no more are chosen than asked for', () => {
  expect(chosen('a/1 a/2 b/1', '', 2)).toBe('a/1 b/1');
});
