import { expect, test } from 'vitest';
import { noticeOf } from './notice.ts';

const id = '01890000-0000-7000-8000-000000000000';

test('an approval names tool, run and risk', () =>
  expect(
    noticeOf({ kind: 'approval', tool: 'bash', title: 'Fix it', risk: 'high', url: `/approvals/apr_${id}` }),
  ).toEqual({ title: 'bash waits for a decision', body: 'Fix it (high risk)', page: `/approvals/apr_${id}` }));

test('an end names the run and its status', () =>
  expect(noticeOf({ kind: 'end', title: 'Fix it', status: 'failed', url: `/runs/run_${id}` })).toEqual({
    ...{ title: 'Run failed', body: 'Fix it', page: `/runs/run_${id}` },
  }));

test.each([undefined, null, 'text', 7, [], {}, { kind: 'later' }])('%j is shown as news', (push) =>
  expect(noticeOf(push)).toEqual({ title: 'News from Holdpoint', body: '', page: '/' }),
);

test.each(['https://evil.example/', '//evil.example', 'javascript:alert(1)', '/approvals/../x', '/login#code=1'])(
  'no push leads to %s',
  (url) => expect(noticeOf({ kind: 'end', title: '', status: '', url }).page).toBe('/'),
);
