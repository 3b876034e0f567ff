import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AppProcess,
  approve,
  finish,
  finished,
  nextApproval,
  plan,
  projectDir,
  useSystem,
} from '../harness/index.ts';

const system = useSystem({ workers: 0, env: () => ({ HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32' }) });
const { client } = system;
let worker: AppProcess;
let site: Server;
let origin: string;
const visits: string[] = [];

/**
 * Lets a file appear between the look of the planner and the look of the call, right before the second one: a worker that has waited for a while
 * compares the files before this look, and would restore the tree.
 */
const late = `
import { everyToolset } from '${projectDir}/packages/tools/src/index.ts';
const { tools } = everyToolset.find(({ name }) => name === 'workbench');
const tool = tools.find(({ name }) => name === 'write_file');
const { asks } = tool;
let looks = 0;
tool.asks = async (context, args) => {
  if (args.path === 'late.txt' && ++looks === 2) {
    await context.files.write('late.txt', Buffer.from('theirs'), { expect: { any: true } }, context.signal);
  }
  return asks(context, args);
};
`;
const startWorker = async () => {
  const module = join(system.directory, 'late.mjs');
  await writeFile(module, late);
  return system.startWorker({}, module);
};
beforeAll(async () => {
  worker = await startWorker();
  site = createServer((request, response) => {
    visits.push(request.url ?? '');
    if (request.url === '/away') response.writeHead(302, { location: 'http://localhost/' });
    response.end('here');
  });
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => site.close());

type Args = NonNullable<Parameters<typeof plan>[0][number]['args']>;
const call = (tool: string, args: Args) => ({ tool, args });
const run = (...calls: ReturnType<typeof call>[]) => ({
  toolset: 'workbench',
  plan: plan(...calls.map((one) => [one])),
});
const write = (path: string, content: string) => call('write_file', { path, content });
const text = (runId: string, path: string) => readFileSync(join(system.tree(runId), path), 'utf8');
const steps = async (runId: string) => (await client.listSteps(runId)).data;

// covers S2-70, S2-31
test('a write that replaces a file parks, survives the death of its worker, and is answered once', async () => {
  const { run: created } = await client.createRun(run(write('n.txt', 'old'), write('n.txt', 'new')));
  const asked = await nextApproval(client, created.id);
  expect(asked).toMatchObject({ reason: 'n.txt exists and would be replaced', step_id: expect.any(String) });
  expect(asked.action).toMatchObject({ tool: 'write_file', args: { path: 'n.txt', content: 'new' } });
  await worker.signal('SIGKILL');
  expect(text(created.id, 'n.txt')).toBe('old');
  worker = await startWorker();
  await approve(client, asked);
  const { id, action_digest } = asked;
  const other = client.decideApproval(id, { decision: 'reject', action_digest });
  await expect(other).rejects.toMatchObject({ status: 409 });
  expect(await finished(client, created.id)).toMatchObject({ status: 'succeeded' });
  expect(text(created.id, 'n.txt')).toBe('new');
});

// covers S2-73
test('a file that appears between the look and the call parks the call', async () => {
  const { run: created } = await client.createRun(run(write('late.txt', 'mine')));
  const asked = await nextApproval(client, created.id);
  expect(asked.reason).toBe('late.txt exists and would be replaced');
  expect(text(created.id, 'late.txt')).toBe('theirs');
  await worker.signal('SIGKILL');
  worker = await startWorker();
  await approve(client, asked);
  expect(await finished(client, created.id)).toMatchObject({ status: 'succeeded' });
  expect(text(created.id, 'late.txt')).toBe('mine');
});

// covers S2-71, S2-72
test('edited arguments run in place of the first ones, and are judged like them', async () => {
  const { run: created } = await client.createRun(run(write('n.txt', 'old'), write('n.txt', 'new')));
  const { id, action_digest } = await nextApproval(client, created.id);
  const edit = (args: Args) => client.decideApproval(id, { decision: 'edit', action_digest, args });
  await expect(edit({ path: 5, content: 'x' })).rejects.toMatchObject({ status: 422 });
  await edit({ path: '../out.txt', content: 'x' });
  await finished(client, created.id);
  const [, edited] = await steps(created.id);
  expect(edited).toMatchObject({ status: 'failed', error: { code: 'EOUTSIDE' } });
  expect(text(created.id, 'n.txt')).toBe('old');
});

// covers S2-40, C-03
test('a deletion that is rejected changes nothing', async () => {
  const { run: created } = await client.createRun(run(write('a.txt', 'x'), call('delete_file', { path: 'a.txt' })));
  const { id, action_digest } = await nextApproval(client, created.id);
  await client.decideApproval(id, { decision: 'reject', action_digest });
  await finished(client, created.id);
  expect((await steps(created.id))[1]).toMatchObject({ status: 'rejected', error: { code: 'EREJECTED' } });
  expect(existsSync(join(system.tree(created.id), 'a.txt'))).toBe(true);
});

// covers S2-91, S2-A08
test('an address off the list is asked about, and fetched after an approval', async () => {
  const { run: created } = await client.createRun({
    ...run(call('web_fetch', { url: `${origin}/page` })),
    network: { allow: [new URL(origin).host] },
  });
  const asked = await nextApproval(client, created.id);
  expect(asked.reason).toContain(`${origin} is not on url_allowlist`);
  expect(visits).toEqual([]);
  await approve(client, asked);
  expect(await finished(client, created.id)).toMatchObject({ status: 'succeeded' });
  expect(visits).toEqual(['/page']);
});

// covers S2-82
test('code has no network, though the run has one', async () => {
  const code = `curl -sS -m 2 ${origin}/code && echo CONN''ECTED; echo "proxy [$HTTP_PROXY]"`;
  const { id } = await finish(client, {
    ...run(call('run_code', { language: 'bash', code })),
    network: { allow: [new URL(origin).host] },
    policy: { rules: [{ match: {}, action: 'allow' }] },
  });
  const [step] = await steps(id);
  expect(step?.status).toBe('succeeded');
  expect(JSON.stringify(await client.getStep(step?.id ?? ''))).toContain('proxy []');
  expect(visits).toEqual(['/page']);
});

test('an approval shows hosts only for code that may reach them', async () => {
  const reaches = async (settings: { code_network: boolean }) => {
    const { run: created } = await client.createRun({
      ...run(call('run_code', { language: 'bash', code: 'true' })),
      settings,
      network: { allow: ['example.org'] },
      policy: { rules: [{ match: {}, action: 'hold' }] },
    });
    return (await nextApproval(client, created.id)).reaches;
  };
  expect(await reaches({ code_network: true })).toEqual(['example.org']);
  expect(await reaches({ code_network: false })).toEqual([]);
});

// covers S2-90, S2-91
test('a POST to an address on the list of its run asks no person, and one to another address does', async () => {
  const post = { url: `${origin}/posted`, method: 'POST', body: 'x' };
  const settings = { url_allowlist: [origin] };
  const listed = await finish(client, { ...run(call('web_fetch', post)), settings });
  expect(listed.status).toBe('succeeded');
  expect(visits).toContain('/posted');
  const { run: other } = await client.createRun(run(call('web_fetch', { ...post, url: `${origin}/held` })));
  expect(await nextApproval(client, other.id)).toMatchObject({ rule: { policy: 'builtin', name: 'external' } });
  await client.cancelRun(other.id);
  expect(visits).not.toContain('/held');
});
