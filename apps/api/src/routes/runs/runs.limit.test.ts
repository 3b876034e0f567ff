import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOf, problemOf, useTestApi } from '../../testing/test-api.ts';

const api = useTestApi();
let source: string;
beforeAll(async () => {
  source = mkdtempSync(join(tmpdir(), 'hp-bound-'));
});
afterAll(async () => rmSync(source, { recursive: true }));

const plan = { groups: [{ steps: [{ tool: 'read_file', args: { path: 'a' } }] }] };

test.each([
  [{ type: 'directory', path: '/etc' }, 'source_forbidden', '/workspace/source/path'],
  [{ type: 'directory', path: '/proc/self/root/etc/' }, 'source_forbidden', '/workspace/source/path'],
  [{ type: 'git', path: '/' }, 'source_forbidden', '/workspace/source/path'],
  [{ type: 'archive', path: '/etc/passwd' }, 'source_forbidden', '/workspace/source/path'],
  [{ type: 'git', path: '/srv/x', ref: 'a\0b' }, 'invalid_request', '/workspace/source/ref'],
  [{ type: 'git', path: '/srv/x', ref: 'a\nb' }, 'invalid_request', '/workspace/source/ref'],
  [{ type: 'directory', path: '/srv/\0x' }, 'invalid_request', '/workspace/source/path'],
  [{ type: 'directory', path: '/srv', include: ['a\0'] }, 'invalid_request', '/workspace/source/include/0'],
])('the source %j is refused with what to do next, and nothing is made', async (from, code, pointer) => {
  const before = await contentOf(api.engine);
  const problem = await problemOf(await api.post('/v1/runs', { plan, workspace: { source: from } }));
  expect(problem).toMatchObject({ status: 422, code, errors: [{ pointer }] });
  expect(problem.next).not.toBe('');
  expect(await contentOf(api.engine)).toEqual(before);
});

test('a NUL in a branch or a path is a 422', async () => {
  const { run } = await api.client.createRun({ plan, workspace: { source: { type: 'directory', path: source } } });
  const answers = await Promise.all([
    api.post(`/v1/runs/${run.id}/publish`, { branch: 'a\0b' }),
    api.post(`/v1/runs/${run.id}/publish/dry-run`, { branch: 'a\nb' }),
    api.send(`/v1/runs/${run.id}/files/content?path=a%00b`),
    api.send(`/v1/runs/${run.id}/diff?path=a%00b`),
    api.send(`/v1/runs/${run.id}/archive?path=a%00b`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422]);
});

test('a validator with a NUL is a 422', async () => {
  const body = { plan, validators: [{ command: 'a\0b' }] };
  expect(await problemOf(await api.post('/v1/runs', body))).toMatchObject({ status: 422, code: 'invalid_request' });
});
