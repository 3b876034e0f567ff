import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunDetail, RunEvent } from '@holdpoint/contract/wire';
import { type OtlpReceiver, startOtlpReceiver } from '@holdpoint/telemetry/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  bash,
  finish,
  formsOf,
  type ModelServer,
  openModelServer,
  placesWith,
  plan,
  succeed,
  useSystem,
} from '../harness/index.ts';

const values = {
  FROM_ENV: 'env+value/with "quotes" & 7',
  FROM_FILE: 'file-value-8f3a61c2e7',
  FROM_STORE: 'store-value_2b9d04/xx+yy==',
};
const inSource = 'source-value-55aa90ce11';

const folder = mkdtempSync(join(tmpdir(), 'hp-planted-'));
let model: ModelServer;
let receiver: OtlpReceiver;
let said: (question: { results: { id: string; text: string }[] }) => {
  text?: string;
  calls?: { tool: string; args: object }[];
};

beforeAll(async () => {
  chmodSync(folder, 0o700);
  mkdirSync(join(folder, 'secrets'), { mode: 0o700 });
  writeFileSync(join(folder, 'secrets', 'FROM_FILE'), `${values.FROM_FILE}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'secrets', 'IN_SOURCE'), inSource, { mode: 0o600 });
  model = await openModelServer((question) => said(question));
  receiver = await startOtlpReceiver();
});
const system = useSystem({
  env: () => ({
    HOLDPOINT_SECRET_FROM_ENV: values.FROM_ENV,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    HOLDPOINT_SECRETS_DIR: join(folder, 'secrets'),
    HOLDPOINT_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    HOLDPOINT_MODEL: 'openai-compatible/test',
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'test-key',
  }),
});
const { client } = system;
beforeAll(async () => {
  await client.setSecret('FROM_STORE', { value: values.FROM_STORE });
});
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** After each test: nothing that is stored, logged or answered has one of the values. */
afterEach(async () => {
  expect(await placesWith(system, Object.values(values))).toEqual([]);
});

const secrets = Object.keys(values).map((name) => ({ name, as: { env: name } }));
/** The commands do what a person would have to decide on. */
const policy = { rules: [{ match: {}, action: 'allow' as const }] };
const everyForm = (name: string) => [
  `printf '%s\\n' "$${name}"; env | grep ${name}; set | grep ${name}= >&2`,
  `for skip in '' a ab; do printf '%s%s' "$skip" "$${name}" | base64 -w0; echo; printf '%s%s' "$skip" "$${name}" | base64 -w 20; done`,
  `printf '%s' "$${name}" | od -An -v -tx1 | tr -d ' \\n'; printf '%s' "$${name}" | od -An -v -tx1 | tr -d ' \\n' | tr a-f A-F`,
  `printf '%s' "$${name}" | od -An -v -tx1 | sed 's/ /%/g' | tr -d '\\n'`,
  `python3 -c 'import os,json,urllib.parse as u; v=os.environ["${name}"]; print(json.dumps(v), json.dumps(json.dumps(v)), u.quote(v), u.quote_plus(v), u.quote(v, safe=""))'`,
  `for ((i=0; i<\${#${name}}; i++)); do printf '%s' "\${${name}:i:1}"; sleep 0.01; done; printf '%s' "$${name}" >&2; exit 3`,
];

async function everything(run: RunDetail): Promise<string> {
  const steps = (await client.listSteps(run.id)).data;
  const details = await Promise.all(steps.map(({ id }) => client.getStep(id)));
  const events = (await client.listEvents(run.id, { limit: 500 })).data;
  return JSON.stringify([await client.getRun(run.id), steps, details, events, await client.diff(run.id)]);
}

test('what commands print of a secret is found nowhere, in any form', { timeout: 300_000 }, async () => {
  const steps = Object.keys(values).flatMap((name) => everyForm(name).map((command) => bash(command)));
  const run = await succeed(client, {
    plan: { groups: steps.map((step) => ({ on_error: 'continue' as const, steps: [step] })) },
    secrets,
    policy,
  });
  const found = (await client.listSteps(run.id, { limit: 100 })).data;
  expect(found.map(({ status }) => status)).toEqual(steps.map((_, at) => (at % 6 === 5 ? 'failed' : 'succeeded')));
  const all = await everything(run);
  for (const name of Object.keys(values)) expect(all.split(`[secret ${name}]`).length).toBeGreaterThan(20);
  for (const value of Object.values(values)) expect(all).not.toContain(JSON.stringify(value).slice(1, -1));
  expect(run.request.secrets).toEqual(secrets);
  const fork = await client.forkRun(run.id, { from_step: 1 });
  await client.cancelRun(fork.run.id);
  // The worker may still make the workspace, and a search for the values reads files at rest.
  expect((await client.waitForRun(fork.run.id)).request.secrets).toEqual(secrets);
});

test('a background command gets secrets, and its stored output has none', async () => {
  const slowly = `for ((i=0; i<\${#FROM_STORE}; i++)); do printf %s "\${FROM_STORE:i:1}"; sleep 0.01; done`;
  const print = `${slowly}; echo " $FROM_ENV" | base64`;
  const run = await succeed(client, {
    plan: plan(
      [{ name: 'begin', tool: 'bash', args: { command: print, run_in_background: true } }],
      [{ tool: 'task_output', args: { task_id: { $from: 'begin', pointer: '/task_id' } as never, wait_s: 30 } }],
    ),
    secrets,
    policy,
  });
  const [task] = await client.listTasks(run.id);
  const { text } = await client.readTaskOutput(task?.id ?? '', { stream: 'stdout' });
  expect(text).toMatch(/^\[secret FROM_STORE\]\w*\[secret FROM_ENV\]/);
});

test('a command that writes a secret to a file fails, and nothing of the file stays', async () => {
  const lines = [
    'printf %s "$FROM_ENV" > plain.txt',
    'mkdir -p deep/er; printf %s "$FROM_FILE" | base64 > deep/er/encoded.txt; echo kept > other.txt',
    'git config user.name x; git config user.email x@x; printf %s "$FROM_STORE" > f; git add f; rm f',
    'touch "$FROM_FILE.txt"',
    'mkdir "$FROM_FILE"',
    'ln -s "$FROM_FILE" link',
  ];
  const run = await succeed(client, {
    plan: {
      groups: [
        ...lines.map((line) => ({ on_error: 'continue' as const, steps: [bash(line)] })),
        { on_error: 'continue' as const, steps: [bash('ls -A; echo fine > fine.txt')] },
      ],
    },
    secrets,
    policy,
  });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map(({ error }) => error?.code)).toEqual([...lines.map(() => 'ESECRETWRITTEN'), undefined]);
  expect(steps[0]?.error?.message).toBe(
    'plain.txt would hold the value of a secret (FROM_ENV). The changes were dropped.',
  );
  const { result } = await client.getStep(steps.at(-1)?.id ?? '');
  expect(result).toMatchObject({ stdout: '.git\n' });
  const { files } = await client.diff(run.id);
  expect(files.map(({ path }) => path)).toEqual(['fine.txt']);
});

test('a background command that writes a secret to a file has failed, and nothing of the file stays', async () => {
  const run = await succeed(client, {
    plan: plan(
      [{ name: 'begin', tool: 'bash', args: { command: 'printf %s "$FROM_ENV" > leak.txt', run_in_background: true } }],
      [{ tool: 'task_output', args: { task_id: { $from: 'begin', pointer: '/task_id' } as never, wait_s: 30 } }],
      [bash('ls -A')],
    ),
    secrets,
    policy,
  });
  const [task] = await client.listTasks(run.id);
  expect(task).toMatchObject({ status: 'failed', reason: { code: 'ESECRETWRITTEN' } });
  const steps = (await client.listSteps(run.id)).data;
  expect((await client.getStep(steps.at(-1)?.id ?? '')).result).toMatchObject({ stdout: '.git\n' });
});

test('a request with the value of a secret is refused with its place, and nothing is stored', async () => {
  for (const value of [
    values.FROM_ENV,
    Buffer.from(values.FROM_FILE).toString('base64'),
    encodeURIComponent(values.FROM_STORE),
  ]) {
    const request = { plan: plan([bash('true')], [bash(`curl -H 'x: ${value}'`)]) };
    await expect(client.createRun(request)).rejects.toMatchObject({
      status: 422,
      code: 'secret_in_request',
      errors: [{ pointer: '/plan/groups/1/steps/0/args/command' }],
    });
  }
  const unknown = { plan: plan([bash('true')]), secrets: [{ name: 'FROM_FIEL', as: { env: 'X' } }] };
  await expect(client.createRun(unknown)).rejects.toMatchObject({
    status: 422,
    code: 'unknown_secret',
    errors: [{ pointer: '/secrets/0/name', detail: expect.stringContaining('FROM_FILE') }],
  });
});

test('a model sees no value, and a call with a value in its arguments does not run', async () => {
  const prompts: string[] = [];
  said = ({ results }) => {
    prompts.push(JSON.stringify(results));
    if (results.length === 0) return { calls: [{ tool: 'bash', args: { command: 'echo "$FROM_ENV"' } }] };
    if (results.length === 1) return { calls: [{ tool: 'bash', args: { command: `echo '${values.FROM_FILE}' > x` } }] };
    return { text: `It is ${values.FROM_STORE}.` };
  };
  const run = await finish(client, { prompt: 'print it', secrets });
  expect(run).toMatchObject({ status: 'succeeded', message: 'It is [secret FROM_STORE].' });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map(({ status, error }) => [status, error?.code])).toEqual([
    ['succeeded', undefined],
    ['failed', 'ESECRETINARGS'],
  ]);
  expect(prompts.join('\n')).toContain('[secret FROM_ENV]');
  for (const value of Object.values(values)) expect(prompts.join('\n')).not.toContain(value);
});

test('a file of the source with a secret is shown without it, and is not published', async () => {
  const path = await system.directoryWith({ '.env': `TOKEN=${inSource}\nA=1\n`, 'a.txt': 'one\n' });
  const run = await succeed(client, {
    plan: plan([{ tool: 'read_file', args: { path: '.env' } }], [bash('sed -i s/A=1/A=2/ .env; echo two > a.txt')]),
    workspace: { source: { type: 'directory', path } },
  });
  const [read] = (await client.listSteps(run.id)).data;
  expect(JSON.stringify((await client.getStep(read?.id ?? '')).result)).toContain('TOKEN=[secret IN_SOURCE]');
  const shown = JSON.stringify(await client.diff(run.id)) + (await client.patch(run.id));
  expect(shown).toContain('[secret IN_SOURCE]');
  expect(shown).not.toContain(inSource);
  await expect(client.publish(run.id, { message: 'publish' })).rejects.toMatchObject({
    code: 'publish_failed',
    detail: expect.stringContaining('.env (IN_SOURCE)'),
  });
  expect(readFileSync(join(path, '.env'), 'utf8')).toBe(`TOKEN=${inSource}\nA=1\n`);
  const events: RunEvent[] = (await client.listEvents(run.id, { limit: 500 })).data;
  expect(JSON.stringify(events)).not.toContain(inSource);
});

test('no exported byte has a secret, a prompt, an argument, an output or the content of a file', async () => {
  const marks = {
    prompt: 'marked-prompt-71c3',
    argument: 'marked-argument-9ab0',
    output: 'marked-output-4e5d',
    file: 'marked-file-c0de',
    answer: 'marked-answer-d15c',
  };
  const path = await system.directoryWith({ 'a.txt': `${marks.file}\n` });
  said = ({ results }) =>
    results.length > 0
      ? { text: `${marks.answer} done` }
      : {
          text: marks.answer,
          calls: [
            {
              tool: 'bash',
              args: { command: `printf 'marked-%s\n' output-4e5d; : ${marks.argument}; cat a.txt; exit 3` },
            },
            { tool: 'read_file', args: { path: `${marks.argument}.txt` } },
            { tool: marks.argument, args: {} },
          ],
        };
  const run = await finish(client, {
    prompt: `${marks.prompt} $FROM_STORE`,
    workspace: { source: { type: 'directory', path } },
    ...{ secrets, policy },
  });
  const spans = () => receiver.spans.filter(({ attributes }) => attributes['holdpoint.run.id'] === run.id);
  const names = () => spans().map(({ name }) => name);
  await expect
    .poll(names, { timeout: 60_000 })
    .toEqual(expect.arrayContaining(['invoke_agent holdpoint', 'sandbox command', 'model request']));
  const forms = [...Object.values(values), inSource, ...Object.values(marks)].flatMap(formsOf);
  const sent = Buffer.concat(receiver.bodies);
  expect(sent.length).toBeGreaterThan(10_000);
  expect(forms.filter((form) => sent.includes(form)).map(String)).toEqual([]);
});
