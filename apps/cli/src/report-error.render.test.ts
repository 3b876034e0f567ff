import { ApiError, ConnectionError } from '@holdpoint/client';
import { CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { exitCodeOf } from './follow-run.ts';
import { describeError } from './report-error.ts';
import { CliError, Interrupted } from './shell/index.ts';

const api = (status: number, code = 'some_code') =>
  new ApiError({ code, status, detail: 'what happened', next: 'what to do' });

it.each([
  [api(400), 2],
  [api(401), 4],
  [api(403), 4],
  [api(404), 7],
  [api(409), 8],
  [api(410), 7],
  [api(422), 2],
  [api(504), 6],
  [api(500), 1],
  [api(503), 1],
  [new ConnectionError('http://127.0.0.1:1', new Error('refused')), 1],
  [new CliError('usage', 'x'), 2],
  [new CliError('bad_plan', 'x'), 2],
  [new CliError('no_key', 'x'), 4],
  [new CliError('timeout', 'x'), 6],
  [new CliError('port_taken', 'x'), 8],
  [new Interrupted('SIGINT'), 130],
  [new CommanderError(1, 'commander.unknownOption', 'error: unknown'), 2],
  [new CommanderError(0, 'commander.helpDisplayed', 'help'), 0],
  [new TypeError('a mistake'), 1],
  ['not even an error', 1],
])('%s ends with %d', (error, code) => expect(describeError(error).exitCode).toBe(code));

it('renders the details and what to do next', () => {
  const error = new ApiError({
    ...{ code: 'publish_conflict', status: 409, detail: 'nothing was published', next: 'merge' },
    errors: [{ pointer: '/plan', detail: 'bad' }],
    conflicts: [{ path: 'a.js', reason: 'changed_in_source', detail: 'it differs' }],
  });
  expect(describeError(error)).toMatchObject({
    code: 'publish_conflict',
    message: 'nothing was published',
    details: ['/plan: bad', 'a.js: changed_in_source (it differs)'],
    next: 'merge',
  });
  expect(describeError(api(404, 'run_not_found')).next).toContain('runs list');
});

it('renders the stack of a bug in this program only', () => {
  expect(describeError(new TypeError('a mistake')).details.join()).toContain('report-error.render.test');
  expect(describeError(api(500)).details).toEqual([]);
});

it.each([
  ['succeeded', null, 0],
  ['failed', 'EEXIT', 1],
  ['failed', 'EEXPIRED', 3],
  ['canceled', null, 3],
  ['canceling', null, 3],
  ['waiting', null, 5],
  ['paused', 'EMODEL', 5],
  ['running', null, 6],
] as const)('a run that %s (%s) ends with %d', (status, code, expected) => {
  const reason = code === null ? null : { code, message: '' };
  const publication = { published: null, conflicts: [], reason: null, approval_id: null };
  expect(exitCodeOf({ status, reason, publication: { ...publication, status: 'none' } })).toBe(expected);
  expect(exitCodeOf({ status: 'succeeded', reason: null, publication: { ...publication, status: 'parked' } })).toBe(5);
});

it.each([
  ['publish_conflict', 8],
  ['validator_failed', 1],
  ['publish_failed', 1],
  ['publish_expired', 3],
])('%s ends with %d', (code, exitCode) =>
  expect(describeError(new ApiError({ code, status: 409, detail: '', next: '' })).exitCode).toBe(exitCode),
);
