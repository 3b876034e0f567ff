/**
 * The cost of MCP for an agent that looks at a run: `get_run` over `/mcp` in both revisions of the protocol against `GET /v1/runs/{id}`, in
 * turns, on one system. Then the calls of a run to programs of outside servers: the first call and later calls of a program that stays, and calls of a
 * program that starts for each call.
 *
 * npm run bench -- mcp [--rounds 600]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mcpScript } from '@holdpoint/mcp/testing';
import { finished, startSystem } from '../tests/harness/index.ts';
import { acceptedServers } from '../tests/mcp/asking-server.ts';
import { judged, median, say } from './figures.ts';

const { values } = parseArgs({ args: process.argv.slice(3), options: { rounds: { type: 'string', default: '600' } } });
const rounds = Number(values.rounds);
const warmUp = 200;
const mostRatio = 2;

using accepted = await acceptedServers((directory) => {
  const program = join(directory, 'server.mjs');
  writeFileSync(program, mcpScript({}));
  return { stays: ['--read-only', '--', 'node', program], starts: ['--', 'node', program] };
});
const rate = { HOLDPOINT_TENANT_RATE: '100000', HOLDPOINT_TENANT_BURST: '1000000' };
const system = await startSystem({ ...rate, ...accepted.settings }, {});
const limits = { requests_per_s: 100_000, burst: 1_000_000 };
const { key } = await system.client.createKey({ name: 'bench', kind: 'agent', scopes: ['runs:read'], limits });
const { run } = await system.client.createRun({ open: true });
const authorization = `Bearer ${key}`;

async function took(path: string, init: RequestInit): Promise<number> {
  const from = performance.now();
  const response = await fetch(`${system.api.url()}${path}`, init);
  const text = await response.text();
  if (!response.ok || !text.includes(run.id)) throw new Error(`${path}: ${response.status} ${text}`);
  return performance.now() - from;
}

const params = { name: 'get_run', arguments: { run_id: run.id } };
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const headers = { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const call = (more: Record<string, string>, body: object) => () =>
  took('/mcp', {
    method: 'POST',
    headers: { ...headers, ...more },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: body }),
  });
const kinds = {
  http: () => took(`/v1/runs/${run.id}`, { headers: { authorization } }),
  '2025-11-25': call({ 'mcp-protocol-version': '2025-11-25' }, params),
  '2026-07-28': call(
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'get_run' },
    { ...params, _meta: meta },
  ),
};

const times = new Map<string, number[]>();
for (let round = 0; round < rounds + warmUp; round++) {
  for (const [name, ask] of Object.entries(kinds)) {
    const ms = await ask();
    if (round >= warmUp) times.set(name, [...(times.get(name) ?? []), ms]);
  }
}
const of = (name: string): number => median(times.get(name) ?? []);
say(`GET /v1/runs/{id}: ${of('http').toFixed(2)} ms`);
for (const name of ['2025-11-25', '2026-07-28']) {
  const ratios = (times.get(name) ?? []).map((ms, at) => ms / (times.get('http')?.[at] ?? Number.NaN));
  say(`get_run over MCP ${name}: ${of(name).toFixed(2)} ms, × ${judged(ratios, { atMost: mostRatio })}`);
}

await accepted.accept(system);
await system.startWorker();

/** Milliseconds of each call of a run, one after the other. */
async function callTimes(tool: string): Promise<number[]> {
  const groups = Array.from({ length: 30 }, () => ({ steps: [{ tool, args: {} }] }));
  const { run: calling } = await system.client.createRun({ plan: { groups } });
  await finished(system.client, calling.id);
  const { data } = await system.client.listSteps(calling.id);
  return Promise.all(
    data.map(async ({ id, status }) => {
      if (status !== 'succeeded') throw new Error(`${tool}: ${status}`);
      return (await system.client.listAttempts(id))[0]?.duration_ms ?? Number.NaN;
    }),
  );
}

const [first = Number.NaN, ...later] = await callTimes('mcp__stays__act');
say(`a program that stays: first call ${first} ms, later calls ${median(later)} ms`);
say(`a program that starts for each call: ${median(await callTimes('mcp__starts__act'))} ms`);
await system[Symbol.asyncDispose]();
