import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appEnv, approve, finished, nextApproval, projectDir, useModelSystem } from '../harness/index.ts';

const { mock, system } = useModelSystem();
const { client } = system;
let key = '';
const open: McpClient[] = [];

beforeAll(async () => {
  const scopes = ['runs:read', 'runs:write', 'approvals:read'] as const;
  key = (await client.createKey({ name: 'coder', kind: 'agent', scopes: [...scopes] })).key;
});
afterAll(async () => {
  for (const one of open) await one.close();
});

type Mode = 'legacy' | 'auto' | { pin: string };
const modern = { pin: '2026-07-28' };

async function connect(how: 'http' | 'stdio', mode: Mode, as = key): Promise<McpClient> {
  const mcp = new McpClient({ name: 'a-client', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport =
    how === 'http'
      ? new StreamableHTTPClientTransport(new URL('/mcp', system.api.url()), {
          requestInit: { headers: { authorization: `Bearer ${as}` } },
        })
      : new StdioClientTransport({
          command: process.execPath,
          args: [join(projectDir, 'apps/cli/src/main.ts'), 'mcp'],
          env: { PATH: appEnv.PATH, HOME: appEnv.HOME, HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: as },
        });
  await mcp.connect(transport);
  open.push(mcp);
  return mcp;
}

/** A call as a model makes it. @returns the text and the value of the answer */
async function call(mcp: McpClient, name: string, args: Record<string, unknown>, options = {}) {
  const answer = await mcp.callTool({ name, arguments: args }, options);
  const [part] = answer.content;
  const value = answer.structuredContent as Record<string, unknown> | undefined;
  return { failed: answer.isError === true, text: part?.type === 'text' ? part.text : '', value: value ?? {} };
}

const bash = (id: string, command: string) => ({ id, name: 'bash', arguments: JSON.stringify({ command }) });

function script(topic: string, command: string): void {
  mock.on({ userMessage: topic, hasToolResult: false }, { content: 'One call.', toolCalls: [bash('call_1', command)] });
  mock.on({ userMessage: topic, hasToolResult: true }, { content: `Done with ${topic}.` });
}

test.each([
  ['http', 'legacy'],
  ['http', modern],
  ['stdio', 'legacy'],
  ['stdio', modern],
] as const)('a task handed over by %s, %j: submit, wait, held, released by a person, diff', async (how, mode) => {
  const topic = `task of ${how} ${JSON.stringify(mode)}`;
  script(topic, 'rm -rf old && echo new > new.txt');
  const mcp = await connect(how, mode);
  const source = { type: 'directory', path: await system.directoryWith({ 'old/a.txt': 'a\n' }) };
  const submitted = await call(mcp, 'submit_run', {
    prompt: topic,
    source,
    request_id: topic.replace(/[^a-z0-9]/g, '-'),
  });
  expect(submitted, submitted.text).toMatchObject({ failed: false, value: { ended: false } });
  const { run_id, state } = submitted.value as { run_id: string; state: string };

  let seen = state;
  let answer = submitted;
  while ((answer.value.needs_person as unknown[]).length === 0) {
    answer = await call(mcp, 'wait_for_run', { run_id, seen_state: seen });
    expect(answer.failed, answer.text).toBe(false);
    seen = answer.value.state as string;
  }
  const approval = await nextApproval(client, run_id);
  expect(answer.value).toMatchObject({
    status: 'waiting',
    needs_person: [{ approval_id: approval.id, url: `${system.api.url()}/approvals/${approval.id}` }],
  });
  expect(answer.text).toContain(`decide at ${system.api.url()}/approvals/${approval.id}`);
  expect((await call(mcp, 'list_approvals', { run_id })).text).toContain(approval.id);
  expect((await call(mcp, 'get_approval', { approval_id: approval.id })).text).toContain('rm -rf old');

  await approve(client, approval);
  while (answer.value.ended !== true) {
    answer = await call(mcp, 'wait_for_run', { run_id, seen_state: seen });
    seen = answer.value.state as string;
  }
  expect(answer.value).toMatchObject({ status: 'succeeded', answer: `Done with ${topic}.`, publication: 'none' });
  const diff = await call(mcp, 'get_diff', { run_id });
  expect(diff.value).toMatchObject({ files_total: 2, additions: 1, deletions: 1, next_line: null });
  expect(diff.text).toContain('+new');
  expect((await call(mcp, 'read_file', { run_id, path: 'new.txt' })).value).toMatchObject({
    text: 'new',
    total_lines: 1,
  });
  expect((await call(mcp, 'read_file', { run_id, path: 'old/a.txt', at: 'source' })).value).toMatchObject({
    text: 'a',
  });
  const resource = await mcp.readResource({ uri: `holdpoint://runs/${run_id}/files/new.txt` });
  expect(resource.contents).toMatchObject([{ text: 'new\n' }]);
  expect((await call(mcp, 'list_runs', { title: topic })).value).toMatchObject({ runs: [{ run_id }] });
  expect(await readFile(join(source.path, 'old/a.txt'), 'utf8')).toBe('a\n');
  // The same request_id again makes no second run.
  const again = await call(mcp, 'submit_run', { prompt: topic, source, request_id: topic.replace(/[^a-z0-9]/g, '-') });
  expect(again.value.run_id).toBe(run_id);
});

test('a wait reports progress, answers in its time, and ends when its caller goes', async () => {
  script('a slow task', 'sleep 600');
  const mcp = await connect('http', modern);
  const { run_id } = (await call(mcp, 'submit_run', { prompt: 'a slow task' })).value as { run_id: string };
  await expect.poll(async () => (await client.getRun(run_id)).usage.steps).toBe(1);
  const { state } = (await call(mcp, 'get_run', { run_id })).value;
  const heard: number[] = [];
  const options = { onprogress: ({ progress }: { progress: number }) => heard.push(progress) };
  const waited = await call(mcp, 'wait_for_run', { run_id, seen_state: state, timeout_s: 12 }, options);
  expect(waited.value).toMatchObject({ changed: false, status: 'running' });
  expect(heard).toHaveLength(1);
  const gone = new AbortController();
  const cut = mcp.callTool({ name: 'wait_for_run', arguments: { run_id } }, { signal: gone.signal });
  setTimeout(() => gone.abort(), 300);
  await expect(cut).rejects.toThrow();
  const ended = await call(mcp, 'cancel_run', { run_id, reason: 'enough' });
  expect(ended.value.status).toMatch(/^cancel(ing|ed)$/);
  await finished(client, run_id);
  expect((await call(mcp, 'cancel_run', { run_id })).value).toMatchObject({ status: 'canceled' });
});

test('without a key, with a wrong one, and with few scopes', async () => {
  await expect(connect('http', 'legacy', 'hp_wrong')).rejects.toThrow(/401|unauthorized/i);
  const few = await client.createKey({ name: 'reader', kind: 'agent', scopes: ['runs:read'] });
  const mcp = await connect('http', 'legacy', few.key);
  const refused = await call(mcp, 'submit_run', { prompt: 'anything' });
  expect(refused).toMatchObject({ failed: true });
  expect(refused.text).toContain('missing_scope');
  expect(refused.text).toContain('keys create');
  const unknown = await call(mcp, 'get_run', { run_id: 'run_none' });
  expect(unknown).toMatchObject({ failed: true });
  expect(unknown.text).toContain('run_not_found');
  const { url } = system.api.url() ? { url: system.api.url() } : { url: '' };
  const foreign = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: { origin: 'https://evil.example', authorization: `Bearer ${few.key}` },
  });
  expect(foreign.status).toBe(403);
});

test('every page of a run with long paths and a long answer fits', async () => {
  const folder = `${'d'.repeat(60)}/${'e'.repeat(60)}`;
  script(
    'a wide task',
    `mkdir -p ${folder} && for i in $(seq 300); do seq -f 'line %g €' 400 > ${folder}/file-$i.txt; done`,
  );
  const mcp = await connect('http', modern);
  const { run_id } = (await call(mcp, 'submit_run', { prompt: 'a wide task' })).value as { run_id: string };
  await finished(client, run_id);
  let from: number | null = 1;
  let pages = 0;
  let seen = 0;
  while (from !== null && pages < 5) {
    const { text, value } = await call(mcp, 'get_diff', { run_id, from_line: from });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024);
    const { files, patch, next_line } = value as { files: unknown[]; patch: string; next_line: number | null };
    expect(Buffer.byteLength(JSON.stringify(files)) + Buffer.byteLength(patch)).toBeLessThanOrEqual(40 * 1024);
    seen += patch.split('\n').length;
    expect(next_line).toBe(seen + 1);
    from = next_line;
    pages += 1;
  }
  expect(pages).toBe(5);
});
