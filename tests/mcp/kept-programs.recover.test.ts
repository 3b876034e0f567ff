import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mcpScript } from '@holdpoint/mcp/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AppProcess, approve, finished, nextApproval, type System, startSystem } from '../harness/index.ts';
import { acceptedServers } from './asking-server.ts';

let accepted: Awaited<ReturnType<typeof acceptedServers>>;
let system: System;
let worker: AppProcess;
let program = '';

const counting = mcpScript({
  before: 'const own = Math.random().toString(36).slice(2); let calls = 0;',
  onCall:
    "say({ id, result: text('own ' + own + ' call ' + ++calls + ' note ' + fs.readFileSync('note.txt', 'utf8')) });",
});

beforeAll(async () => {
  accepted = await acceptedServers((directory) => {
    program = join(directory, 'counting-server.mjs');
    writeFileSync(program, counting);
    return { counts: ['--read-only', '--', 'node', program] };
  });
  system = await startSystem(accepted.settings);
  await accepted.accept(system);
  worker = await system.startWorker();
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  accepted?.[Symbol.dispose]();
});

/** Processes of this host that run the server. */
function processes(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program);
    } catch {
      return false; // the process has ended
    }
  });
}

const areGone = () => expect.poll(processes, { timeout: 30_000 }).toEqual([]);
const call = { tool: 'mcp__counts__act', args: {} };
const held = { tool: 'bash', args: { command: 'echo changed >note.txt' } };
const holds = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };

async function start(groups: object[][]): Promise<string> {
  const source = { type: 'directory' as const, path: await system.directoryWith({ 'note.txt': 'first' }) };
  const plan = { groups: groups.map((steps) => ({ steps })) };
  const { run } = await system.client.createRun({ workspace: { source }, policy: holds, plan } as never);
  return run.id;
}

/** The process, the number and the note of each call. */
async function said(runId: string) {
  const { data } = await system.client.listSteps(runId);
  return data
    .filter(({ tool, status }) => tool === call.tool && status === 'succeeded')
    .map(({ result }) => /own (?<own>\w+) call (?<n>\d+) note (?<note>\w+)/.exec(JSON.stringify(result))?.groups);
}

test('the calls of a run find the process of its first call, which sees each change, and ends with the run', async () => {
  const runId = await start([[call, call], [held], [call]]);
  await approve(system.client, await nextApproval(system.client, runId));
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  const calls = await said(runId);
  expect(calls.map((one) => one?.n).toSorted()).toEqual(['1', '2', '3']);
  expect(new Set(calls.map((one) => one?.own)).size).toBe(1);
  expect(calls.map((one) => one?.note)).toEqual(['first', 'first', 'changed']);
  await areGone();
});

test('a killed worker leaves no process, and the next call has a new one', async () => {
  const runId = await start([[call], [held], [call]]);
  const approval = await nextApproval(system.client, runId);
  expect(processes().length).toBeGreaterThan(0);
  await worker.signal('SIGKILL');
  await areGone();
  worker = await system.startWorker();
  await approve(system.client, approval);
  await finished(system.client, runId);
  const calls = await said(runId);
  expect(calls.map((one) => one?.n)).toEqual(['1', '1']);
  await areGone();
});

test('a pause, a cancel and a change of the servers end the process of a run', async () => {
  const runId = await start([[call], [held], [call]]);
  const approval = await nextApproval(system.client, runId);
  expect(processes().length).toBeGreaterThan(0);
  await system.client.pauseRun(runId);
  await areGone();
  await system.client.resumeRun(runId);
  await approve(system.client, approval);
  await finished(system.client, runId);
  expect((await said(runId)).map((one) => one?.n)).toEqual(['1', '1']);

  const canceled = await start([[call], [held]]);
  await nextApproval(system.client, canceled);
  expect(processes().length).toBeGreaterThan(0);
  await system.client.cancelRun(canceled);
  await areGone();

  const changed = await start([[call], [held]]);
  await nextApproval(system.client, changed);
  expect(processes().length).toBeGreaterThan(0);
  const file = accepted.settings.HOLDPOINT_MCP_SERVERS;
  writeFileSync(file, readFileSync(file, 'utf8').replace('"timeout_s": 60', '"timeout_s": 61'));
  await areGone();
  await system.client.cancelRun(changed);
});
