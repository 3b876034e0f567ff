import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunEvent } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, bash, finish, finished, nextApproval, plan, succeed, useSystem } from '../harness/index.ts';

// The operator allows loopback addresses; a run must name each host all the same.
const system = useSystem({ env: () => ({ HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32,::1/128' }) });
const { client } = system;
const visits: string[] = [];
let site: Server;
let host: string;
let elsewhere: string;

beforeAll(async () => {
  site = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1><p>from the site</p>');
  });
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
  const { port } = site.address() as AddressInfo;
  host = `127.0.0.1:${port}`;
  elsewhere = `127.0.0.1:${port === 65_535 ? port - 1 : port + 1}`;
});
afterAll(() => site.close());

const allowed = { rules: [{ match: {}, action: 'allow' as const }] };
const connections = (events: RunEvent[]) =>
  events.flatMap((event) => (event.type === 'network.connected' ? [event.data] : []));
const eventsOf = async (runId: string) => (await client.listEvents(runId, { limit: 500 })).data;

test('a command reaches only the hosts of its run, and the log has each connection', async () => {
  const command = `curl -sS http://${host}/from-bash; curl -s -o /dev/null -w ' %{http_code}' http://${elsewhere}/; curl -s --noproxy '*' -m 2 http://${host}/around || echo ' shut'`;
  const run = await succeed(client, {
    plan: plan([bash(command, 'curl')]),
    network: { allow: [host] },
    policy: allowed,
  });
  const [step] = (await client.listSteps(run.id)).data;
  expect(step?.effect).toBe('external');
  const { result } = await client.getStep(step?.id ?? '');
  expect(result).toMatchObject({ stdout: '<h1>Hello</h1><p>from the site</p> 403 shut\n' });
  expect(visits).toEqual(['/from-bash']);
  // curl says 403 alone: the model reads here who refused what, and what opens it.
  const note = `[holdpoint] refused ${elsewhere}: ${elsewhere} is not on this run's network allowlist.`;
  expect(result).toMatchObject({ stderr: expect.stringContaining(note) });
  // A connection is recorded when it ends, so their order varies.
  const recorded = connections(await eventsOf(run.id)).toSorted((a, b) => a.verdict.localeCompare(b.verdict));
  expect(recorded).toMatchObject([
    { verdict: 'allowed', port: Number(host.split(':')[1]), address: '127.0.0.1' },
    {
      verdict: 'refused',
      port: Number(elsewhere.split(':')[1]),
      reason: 'EHOSTNOTALLOWED',
      detail: expect.stringContaining(elsewhere),
    },
  ]);
});

test('web_fetch reads a page of an allowed host as Markdown, and no other', async () => {
  const fetch = (at: string) => ({ tool: 'web_fetch', args: { url: `http://${at}/page` } });
  const run = await finish(client, {
    plan: { groups: [{ on_error: 'continue', steps: [fetch(host), fetch(elsewhere)] }] },
    network: { allow: [host] },
  });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map((step) => [step.status, step.error?.code])).toEqual([
    ['succeeded', undefined],
    ['failed', 'EHOSTNOTALLOWED'],
  ]);
  const { result } = await client.getStep(steps[0]?.id ?? '');
  expect(result).toMatchObject({ status: 200, content: '# Hello\n\nfrom the site' });
  expect(visits).toContain('/page');
});

test('a run without an allowlist has no network', async () => {
  const before = visits.length;
  const run = await finish(client, {
    plan: {
      groups: [
        {
          on_error: 'continue',
          steps: [
            { tool: 'web_fetch', args: { url: `http://${host}/off` } },
            { tool: 'bash', args: { command: `curl -s -m 2 http://${host}/off` } },
          ],
        },
      ],
    },
  });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map((step) => step.error?.code)).toEqual(['ENETWORKOFF', 'EEXIT']);
  expect(steps.map((step) => step.effect)).toEqual(['read', 'workspace']);
  expect(visits).toHaveLength(before);
  expect(connections(await eventsOf(run.id))).toEqual([]);
});

test('a command with a network is held by default', async () => {
  const { run } = await client.createRun({ plan: plan([bash('true')]), network: { allow: [host] } });
  const approval = await nextApproval(client, run.id);
  expect(approval).toMatchObject({
    action: { tool: 'bash', effect: 'external' },
    preview: { kind: 'command', command: 'true', network: [host] },
  });
  await client.cancelRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'canceled' });
});

test('the first 100 connections are recorded one by one, the others are counted', async () => {
  const command = `curl -s -o /dev/null http://${elsewhere}/[1-400]; echo done`;
  const { run } = await client.createRun({
    plan: plan([bash(command, 'flood')]),
    network: { allow: [host] },
    policy: allowed,
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const events = await eventsOf(run.id);
  expect(connections(events)).toHaveLength(100);
  const counted = events.flatMap((event) => (event.type === 'network.counted' ? event.data.counts : []));
  expect(counted.every(({ host }) => host === '127.0.0.1')).toBe(true);
  expect(counted.reduce((sum, count) => sum + count.connections, 0)).toBe(300);
});

test('an approval opens an unlisted host for that call alone, and a rejected call contacts nothing', async () => {
  const named = host.replace('127.0.0.1', 'localhost');
  const fetch = (path: string) => ({ tool: 'web_fetch', args: { url: `http://${named}/${path}` } });
  const { run } = await client.createRun({
    plan: {
      groups: [
        { on_error: 'continue', steps: [fetch('approved')] },
        { on_error: 'continue', steps: [fetch('rejected')] },
      ],
    },
    network: { allow: [host] },
  });
  const first = await nextApproval(client, run.id);
  expect(first.reason).toContain(`${named} is not on the run's network allowlist`);
  expect(visits).not.toContain('/approved');
  await approve(client, first);
  const second = await nextApproval(client, run.id);
  expect(second.id).not.toBe(first.id);
  await client.decideApproval(second.id, { decision: 'reject', action_digest: second.action_digest });
  await finished(client, run.id);
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map(({ status }) => status)).toEqual(['succeeded', 'rejected']);
  expect(visits).toContain('/approved');
  expect(visits).not.toContain('/rejected');
});
