import { randomBytes } from 'node:crypto';
import type { ToolOutcome } from '@holdpoint/contract';
import type { Executor } from '@holdpoint/engine/worker';
import { openSecrets } from '@holdpoint/secrets';
import { expect, test } from 'vitest';
import { redactExecutor } from './redact-executor.ts';

const value = 'hunter2-and-some-more';
const secrets = openSecrets({
  ...{ environment: { TOKEN: value }, variables: ['TOKEN'], folder: undefined },
  ...{ storeFolder: '/nonexistent', key: undefined },
});

async function outcomeOf(outcome: ToolOutcome): Promise<ToolOutcome> {
  const executor = redactExecutor({ execute: async () => outcome } as unknown as Executor, secrets);
  const context = { scope: { tenant: 'default', secrets: [] }, onConnection: () => {} };
  return await executor.execute({ toolset: 'holdpoint', tool: 'read_file', args: {} }, context as never);
}

const kept = (contents: Buffer[]): ToolOutcome => ({ status: 'succeeded', value: { path: 'a.png' }, contents });

test.each([
  ['as it is', value],
  ['in base64', Buffer.from(value).toString('base64')],
])('an image with the value of a secret %s among its bytes is not kept', async (_, hidden) => {
  const image = Buffer.concat([randomBytes(50_000), Buffer.from(hidden), randomBytes(50_000)]);
  const outcome = await outcomeOf(kept([Buffer.from('a'), image]));
  expect(outcome).toMatchObject({
    status: 'failed',
    error: { code: 'ESECRETINFILE', message: expect.stringContaining('TOKEN') },
  });
  expect(outcome).not.toHaveProperty('contents');
  expect(JSON.stringify(outcome)).not.toContain('a.png');
});

test('other bytes stay the same bytes', async () => {
  const contents = [randomBytes(4_000_000)];
  const outcome = await outcomeOf(kept(contents));
  expect(outcome).toMatchObject({ status: 'succeeded', value: { path: 'a.png' } });
  expect('contents' in outcome && outcome.contents?.[0]).toBe(contents[0]);
});

const asking = (message: string, state: string): ToolOutcome => ({
  status: 'deferred',
  on: { question: { server: 'shop', tool: 'order', requests: [{ key: 'k', message, fields: [] }] }, state },
});

test.each([
  ['as it is', value],
  ['in base64', Buffer.from(value).toString('base64')],
])('a question whose state has the value of a secret %s ends the call', async (_, hidden) => {
  const outcome = await outcomeOf(asking('Which?', `state ${hidden}`));
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ESECRETINSTATE' } });
  expect(JSON.stringify(outcome)).not.toContain(hidden);
});

test.each([
  ['as it is', value],
  ['in base64', Buffer.from(value).toString('base64')],
])('a wait that names the work outside with the value of a secret %s ends the call', async (_, hidden) => {
  const wait = (outside: string): ToolOutcome => ({ status: 'deferred', until: 1, on: { outside } });
  expect(await outcomeOf(wait('task 1'))).toEqual(wait('task 1'));
  const outcome = await outcomeOf(wait(`task ${hidden}`));
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ESECRETINSTATE' } });
  expect(JSON.stringify(outcome)).not.toContain(hidden);
});

test('the words of a question are redacted, and another state goes back as it is', async () => {
  const outcome = await outcomeOf(asking(`Is it ${value}?`, 'ünï'));
  expect(outcome).toEqual(asking('Is it [secret TOKEN]?', 'ünï'));
});
