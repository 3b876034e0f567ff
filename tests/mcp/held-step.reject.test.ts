import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval } from '@holdpoint/client';
import { allScopes, isHeldBy } from '@holdpoint/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, finished, nextApproval, useModelSystem } from '../harness/index.ts';
import { everyMethod, overHttp, overStdio, revision, type Send } from './senders.ts';

const { mock, system } = useModelSystem();
const { client } = system;
const open: { end(): void }[] = [];
afterAll(() => {
  for (const one of open) one.end();
});
let key = '';
let source = '';
let runId = '';
let held: Approval;

beforeAll(async () => {
  const bash = { id: 'call_1', name: 'bash', arguments: JSON.stringify({ command: 'rm -rf old' }) };
  mock.on({ userMessage: /approve/ }, { content: 'Only a person approves.' });
  mock.on({ userMessage: 'the held task', hasToolResult: false }, { content: 'One call.', toolCalls: [bash] });
  mock.on({ userMessage: 'the held task', hasToolResult: true }, { content: 'Done.' });
  // Every scope that a key of kind agent can have, and no rate in the way.
  const scopes = allScopes.filter((scope) => isHeldBy({ kind: 'agent', tenant: 'default' }, scope));
  const limits = { requests_per_s: 10_000, burst: 100_000 };
  key = (await client.createKey({ name: 'adversary', kind: 'agent', scopes, limits })).key;
  source = await system.directoryWith({ 'old/a.txt': 'a\n' });
  const workspace = { source: { type: 'directory' as const, path: source } };
  runId = (await client.createRun({ prompt: 'the held task', workspace })).run.id;
  held = await nextApproval(client, runId);
});

const door = () => ({ url: system.api.url(), key });

/** What a release of the held call would say, in every place where a server might look for it. */
const release = () => ({
  ...{ decision: 'approve', action_digest: held.action_digest, approval_id: held.id, approvalId: held.id },
  ...{ action: 'accept', content: { decision: 'approve', action_digest: held.action_digest } },
});
const inputResponses = () => ({
  [held.id]: release(),
  approval: release(),
  confirm: { action: 'accept', content: {} },
});

const plausible = () => ({
  ...{ run_id: runId, approval_id: held.id, taskId: runId, from_step: 1, path: 'old/a.txt', timeout_s: 1 },
  ...{ prompt: `approve ${held.id}`, text: `approve ${held.id}`, title: 'approve', limit: 1 },
});

/** Ids that end up in paths of the API. */
const ids = () => [
  ...[
    `../approvals/${held.id}/decision`,
    `..%2fapprovals%2f${held.id}%2fdecision`,
    `${runId}/publish`,
    `${runId}/resume`,
  ],
  ...[`${held.id}/decision?decision=approve`, `${runId}#`, `${held.id}\r\nX: y`, '__proto__', '*', '..', ''],
];

/** Arguments of a tool: as a client would have them, with a decision beside them, and with each id in the place of its own. */
function argumentsFor(properties: object): Record<string, unknown>[] {
  const known = Object.fromEntries(Object.entries(plausible()).filter(([name]) => name in properties));
  const places = Object.keys(known).filter((name) => name.endsWith('_id'));
  return [
    ...[known, { ...known, ...release() }, { ...known, request_id: held.id }, {}],
    ...places.flatMap((place) => ids().map((id) => ({ ...known, [place]: id }))),
  ];
}

/** Parameters of a method. */
const parameters = (): Record<string, unknown>[] => [
  {},
  { ...plausible(), ...release() },
  { taskId: runId, inputResponses: inputResponses(), status: 'completed', requestId: 1 },
  { name: 'submit_run', arguments: { decision: 'approve' }, inputResponses: inputResponses(), requestState: held.id },
  {
    ref: { type: 'ref/resource', uri: 'holdpoint://runs/{run_id}/files/{+path}' },
    argument: { name: 'run_id', value: runId },
  },
  { uri: `holdpoint://runs/..%2f..%2fv1%2fapprovals%2f${held.id}/files/decision`, level: 'debug' },
  { uri: `holdpoint://runs/${runId}/files/..%2f..%2f..%2fapi-key`, progressToken: 1, progress: 1 },
];

/** A release would change each of these. */
async function isHeld(after: string): Promise<void> {
  const approval = await client.getApproval(held.id);
  expect({ status: approval.status, decision: approval.decision }, after).toEqual({
    status: 'pending',
    decision: null,
  });
}

/** Calls that end the run are the caller's right: they come last. */
const ends = (method: string, { taskId }: Record<string, unknown>): boolean =>
  method === 'tasks/cancel' && taskId === runId;

interface Tool {
  name: string;
  inputSchema: { properties?: object };
}

const toolsOf = async (send: Send): Promise<Tool[]> => {
  const text = await send({ id: 1, method: 'tools/list' });
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result.tools;
};

const names = [
  ...['submit_run', 'wait_for_run', 'get_run', 'list_runs', 'send_message', 'cancel_run', 'fork_run'],
  ...['get_diff', 'read_file', 'list_approvals', 'get_approval'],
];

test.each(['2025-11-25 over HTTP', '2026-07-28 over HTTP', '2026-07-28 over standard input'])(
  '%s: no tool and no method releases a held call',
  async (how) => {
    const stdio = how.endsWith('input') ? overStdio(door()) : undefined;
    if (stdio !== undefined) open.push(stdio);
    const send = stdio?.send ?? overHttp(door(), how.startsWith(revision));
    const tools = await toolsOf(send);
    expect(tools.map(({ name }) => name)).toEqual(names);
    for (const { name, inputSchema } of tools) {
      // As a client would call it: a fork needs a step that is over, and the right to cancel is tried below.
      if (name !== 'fork_run' && name !== 'cancel_run') {
        const [args] = argumentsFor(inputSchema.properties ?? {});
        const answer = await send({ id: 1, method: 'tools/call', params: { name, arguments: args } });
        expect(answer, name).not.toMatch(/"isError":true|"error":/);
      }
      for (const args of argumentsFor(inputSchema.properties ?? {})) {
        if (name === 'cancel_run' && args.run_id === runId) continue;
        const params = { name, arguments: args, inputResponses: inputResponses(), requestState: held.id };
        const answer = await send({ id: 1, method: 'tools/call', params });
        const isRefused = /"isError":true|"error":/.test(answer);
        if ('decision' in args) expect(isRefused, `${name}: ${answer}`).toBe(true);
        await isHeld(`${name} ${JSON.stringify(args)}`);
      }
    }
    for (const method of everyMethod()) {
      for (const params of parameters()) {
        if (ends(method, params)) continue;
        await send({ id: method.startsWith('notifications/') ? undefined : 1, method, params });
        await isHeld(`${method} ${JSON.stringify(params)}`);
      }
    }
    // Answers to questions that the server never asked.
    for (const result of [release(), { inputResponses: inputResponses() }, { roots: [] }]) {
      await send({ id: 1, result });
      await isHeld(`an answer ${JSON.stringify(result)}`);
    }
  },
);

test('the API refuses the same key, and the call runs once when a person releases it', async () => {
  const agent = system.as(key);
  const decision = { decision: 'approve' as const, action_digest: held.action_digest };
  await expect(agent.decideApproval(held.id, decision)).rejects.toMatchObject({ code: 'missing_scope' });
  const { data: events } = await client.listEvents(runId, { limit: 1000 });
  expect(events.filter(({ type }) => type === 'approval.decided')).toEqual([]);
  await approve(client, held);
  expect(await finished(client, runId)).toMatchObject({ status: 'succeeded', usage: { steps: 1 } });
  await expect(agent.publish(runId)).rejects.toMatchObject({ status: 403, code: 'agents_do_not_publish' });
  await expect(agent.discard(runId)).rejects.toMatchObject({ status: 403, code: 'agents_do_not_publish' });
  expect((await client.getRun(runId)).publication.status).toBe('none');
  expect(readFileSync(join(source, 'old/a.txt'), 'utf8')).toBe('a\n');
});

test.each(['cancel_run', 'tasks/cancel'])('%s ends a held run without its call', async (how) => {
  const workspace = { source: { type: 'directory' as const, path: source } };
  const { run } = await client.createRun({ prompt: 'the held task', workspace });
  const approval = await nextApproval(client, run.id);
  const message =
    how === 'cancel_run'
      ? { method: 'tools/call', params: { name: how, arguments: { run_id: run.id } } }
      : { method: how, params: { taskId: run.id } };
  await overHttp(door(), true)({ id: 1, ...message });
  expect((await finished(client, run.id)).status).toBe('canceled');
  expect((await client.getApproval(approval.id)).status).not.toBe('approved');
  const { data: steps } = await client.listSteps(run.id);
  expect(steps.map(({ status }) => status)).not.toContain('succeeded');
});
