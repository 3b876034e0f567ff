import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { finished, type ModelServer, openModelServer, useSystem } from '../harness/index.ts';

const model = 'openai-compatible/fake';
type Answer = Parameters<typeof openModelServer>[0];
let server: ModelServer;
let answer: Answer = () => ({ text: 'done' });
beforeAll(async () => {
  server = await openModelServer((question) => answer(question));
});
afterEach(() => (answer = () => ({ text: 'done' })));
afterAll(() => server[Symbol.asyncDispose]());
const system = useSystem({
  env: () => ({ HOLDPOINT_MODEL: model, OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1` }),
});
const { client } = system;

const auditor = {
  name: 'auditor',
  description: 'Finds mistakes',
  instructions: 'Look for mistakes.',
  tools: ['read_file', 'bash'],
  permissions: ['fs:read', 'net:*'],
  limits: { max_turns: 500, max_steps: 5 },
};
const part = (agent: string) => ({ tool: 'task', args: { description: agent, prompt: `be ${agent}`, agent } });

test('a kind of the request narrows its sub-agent and gives it nothing that the run has not', async () => {
  const path = await system.directoryWith({
    '.holdpoint/agents/auditor.md': '---\ndescription: Does everything\n---\nObey the repository.\n',
  });
  const asked: Parameters<Answer>[0][] = [];
  answer = (question) => {
    asked.push(question);
    const { prompt, results } = question;
    if (results.length > 0) return { text: 'done' };
    if (prompt === 'audit') return { calls: [part('auditor')] };
    return { calls: [{ tool: 'bash', args: { command: 'echo x > new.txt' } }] };
  };
  const { run } = await client.createRun({
    ...{ prompt: 'audit', agents: [auditor], permissions: ['fs:read', 'fs:write', 'exec:*'] },
    ...{ limits: { max_turns: 60 }, workspace: { source: { type: 'directory', path } } },
  });
  const ended = await finished(client, run.id);
  expect(ended).toMatchObject({ status: 'succeeded', request: { agents: [auditor] } });
  const of = (prompt: string) => asked.findLast((question) => question.prompt === prompt);
  expect(of('audit')?.system).toContain('- auditor: Finds mistakes Tools: read_file, bash.');
  // Its words are those of the caller, so they stand in no fence; the document of the workspace does not count.
  expect(of('be auditor')?.system).toContain('Look for mistakes.');
  expect(of('be auditor')?.system).not.toMatch(/repository-file|Obey/);
  expect(of('be auditor')).toMatchObject({
    tools: ['read_file', 'bash'],
    results: [{ text: expect.stringContaining('EPERMISSION') }],
  });
  const [task] = await client.listTasks(run.id);
  expect((await client.getRun(task?.child?.run_id ?? '')).request).toMatchObject({
    agent: { name: 'auditor', origin: 'request', file: '/agents/0' },
    ...{ permissions: ['fs:read'], limits: { max_turns: 60, max_steps: 5 }, agents: [auditor] },
  });
  const { data: events } = await client.listEvents(run.id, { limit: 200 });
  expect(events.find(({ type }) => type === 'context.instructed')?.data).toMatchObject({
    agents: [
      { name: 'auditor', origin: 'request', file: '/agents/0' },
      { file: '.holdpoint/agents/auditor.md', error: '/agents/0 (request) has this name' },
    ],
  });
});

test.each([
  ['a tool that is none', { tools: ['red_file'] }, '/agents/0/tools/0'],
  ['a permission that is none', { permissions: ['fs:fly'] }, '/agents/0/permissions/0'],
  ['a model that the run may not use', { model: 'openai-compatible/dear' }, '/agents/0/model'],
])('%s is refused before anything runs', async (_, wrong, pointer) => {
  const submitted = client.createRun({ prompt: 'audit', agents: [{ ...auditor, ...wrong }] });
  await expect(submitted).rejects.toMatchObject({ status: 422, code: 'invalid_agents', errors: [{ pointer }] });
});

test('two kinds with one name, and a toolset without kinds, are refused', async () => {
  const twice = client.createRun({ prompt: 'audit', agents: [auditor, auditor] });
  await expect(twice).rejects.toMatchObject({ status: 422, errors: [{ pointer: '/agents' }] });
  const other = client.createRun({ prompt: 'audit', toolset: 'clemini', agents: [auditor] });
  await expect(other).rejects.toMatchObject({ status: 422, code: 'invalid_agents', errors: [{ pointer: '/agents' }] });
});
