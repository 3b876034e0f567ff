import { ApiError } from '@holdpoint/client';
import { expect, it } from 'vitest';
import { describeError } from '../../report-error.ts';
import { nameOptions } from './name-options.ts';

const refusal = (pointer: string, code = 'invalid_network') =>
  new ApiError({ code, status: 422, detail: 'not good', next: 'Write a host.', errors: [{ pointer, detail: 'bad' }] });

it.each([
  ['/network/allow/0', '--allow-net: bad'],
  ['/prepare/network/allow/1', '--prepare-allow: bad'],
  ['/settings/depth', '--settings /depth: bad'],
  ['/workspace/source/path', '--source /path: bad'],
  ['/workspace/source/include/0', '--include: bad'],
  ['/limits/max_steps', '/limits/max_steps: bad'],
])('a mistake at %s is one of an option', (pointer, shown) => {
  const described = describeError(nameOptions(refusal(pointer), []));
  expect(described).toMatchObject({ exitCode: 2, code: 'invalid_network', message: 'not good', next: 'Write a host.' });
  expect(described.details).toEqual([shown]);
});

it('keeps the names of fields that a file has', () => {
  expect(describeError(nameOptions(refusal('/network/allow/0'), ['network'])).details).toEqual([
    '/network/allow/0: bad',
  ]);
});
