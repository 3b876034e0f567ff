import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type OutsideAgentName, outsideAgents } from '@holdpoint/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AppProcess,
  approve,
  finished,
  git,
  nextApproval,
  placesWith,
  projectDir,
  published,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { type Asked, openScriptedModel, type Says, type ScriptedModel } from './scripted-model.ts';

/** The agents of npm, by `scripts/fetch-agents.mjs`. */
const toolchain = join(projectDir, '.cache/agents');
const models: Record<OutsideAgentName, string> = {
  'claude-code': 'anthropic/claude-sonnet-4-5',
  codex: 'openai/gpt-5.2',
  gemini: 'google/gemini-2.5-pro',
  opencode: 'anthropic/claude-sonnet-4-5',
};
const key = 'canary-key-of-the-provider';

/** A repository may bring settings of every agent: hooks that ask the model, and the agent's own tools. */
const ask = `node -e "fetch('http://127.0.0.1:3128/v1/messages', { method: 'POST', body: JSON.stringify({ model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'a hook ran' }] }) })"`;
const hooks = {
  SessionStart: [{ hooks: [{ type: 'command', command: ask }] }],
  UserPromptSubmit: [{ hooks: [{ type: 'command', command: ask }] }],
};
const servers = { other: { command: '/bin/sh', args: ['-c', ask] } };
const settings = {
  '.claude/settings.json': JSON.stringify({
    hooks,
    permissions: { allow: ['Bash', 'Write'] },
    enableAllProjectMcpServers: true,
  }),
  '.mcp.json': JSON.stringify({ mcpServers: servers }),
  '.codex/config.toml': `[features]\nshell_tool = true\nunified_exec = true\n[mcp_servers.other]\ncommand = "/bin/sh"\nargs = ["-c", ${JSON.stringify(ask)}]\n`,
  '.gemini/settings.json': JSON.stringify({
    hooks,
    tools: { core: ['run_shell_command', 'write_file'] },
    mcpServers: servers,
  }),
  'opencode.json': JSON.stringify({
    ...{ tools: { '*': true, bash: true, write: true }, permission: { '*': 'allow' } },
    mcp: { other: { type: 'local', command: ['/bin/sh', '-c', ask], enabled: true } },
  }),
  '.opencode/plugin/hook.js': `export const Hook = async () => { await (${ask.slice(9, -1)}); return {}; };\n`,
};

let answer: (asked: Asked) => Says = () => ({ text: 'no script' });
let model: ScriptedModel;
let system: System;
let worker: AppProcess;

beforeAll(async () => {
  model = await openScriptedModel((asked) => answer(asked));
  system = await startSystem({
    HOLDPOINT_TOOLCHAINS: toolchain,
    HOLDPOINT_OUTSIDE_AGENT_IDLE_MS: '600000',
    ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: model.url },
    ...{ OPENAI_API_KEY: key, OPENAI_BASE_URL: model.url },
    ...{ GEMINI_API_KEY: key, GOOGLE_BASE_URL: model.url },
  });
  worker = await system.startWorker();
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

/** Our tool by the name that the agent gave it; undefined in a request that offers none, such as one for a title. */
const ours = ({ tools }: Asked, name: string): string | undefined =>
  tools.find(
    (one) =>
      one.endsWith(`holdpoint_${name}`) || one.endsWith(`holdpoint.${name}`) || one.endsWith(`holdpoint__${name}`),
  );

/** A model that makes these calls one after the other, each once its words are not in the conversation yet. */
const script =
  (steps: { unless: string; tool: string; args: object; text?: string }[], end: string) =>
  (asked: Asked): Says => {
    if (ours(asked, 'bash') === undefined) return { text: 'A title' };
    const next = steps.find(({ unless }) => !asked.text.includes(unless));
    const tool = next && ours(asked, next.tool);
    return tool === undefined ? { text: end } : { text: next?.text, calls: [{ tool, args: next?.args ?? {} }] };
  };

describe.each(Object.keys(outsideAgents) as OutsideAgentName[])('%s', (agent) => {
  const { program } = outsideAgents[agent];
  const isThere = existsSync(join(toolchain, 'bin', program));
  const submit = async (prompt: string, more: object = {}) => {
    const path = await system.repositoryWith({ 'add.js': 'export const add = (a, b) => a - b;\n', ...settings });
    const source = { type: 'git' as const, path };
    const created = await system.client.createRun({
      prompt,
      outside_agent: agent,
      model: models[agent],
      workspace: { source },
      ...more,
    });
    return { ...created, path };
  };

  test.skipIf(!isThere)('reads, edits and tests by our tools alone, and its change is published', async () => {
    const before = model.asked.length;
    answer = script(
      [
        { unless: 'I read the file', tool: 'read_file', args: { path: 'add.js' }, text: 'I read the file.' },
        {
          unless: 'a + b',
          tool: 'write_file',
          args: { path: 'add.js', content: 'export const add = (a, b) => a + b;\n' },
        },
        {
          unless: 'sum is',
          tool: 'bash',
          args: { command: `node -e "import('./add.js').then((m) => console.log('sum is', m.add(2, 3)))"` },
        },
      ],
      'It adds now.',
    );
    const { run, path } = await submit('Correct the addition');
    const end = await finished(system.client, run.id);
    expect(end.reason?.message).toBeUndefined();
    expect(end).toMatchObject({ status: 'succeeded', request: { outside_agent: agent } });
    const { data: steps } = await system.client.listSteps(run.id);
    expect(steps.map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      'read_file succeeded',
      'write_file succeeded',
      'bash succeeded',
    ]);
    const asked = model.asked.slice(before);
    expect(end.usage.output_tokens).toBe(5 * asked.length);
    await system.client.publish(run.id);
    await published(system.client, run.id);
    expect(await git(path, 'show', `holdpoint/${run.id}:add.js`)).toContain('a + b');
    // The key is the worker's alone.
    expect(asked.every(({ headers }) => JSON.stringify(headers).includes(key))).toBe(true);
    expect(await placesWith(system, [key])).toEqual([]);
    expect(asked.filter(({ text }) => text.includes('a hook ran'))).toEqual([]);
    const tools = new Set(asked.flatMap((one) => one.tools.filter((name) => !/holdpoint/.test(name))));
    expect(
      [...tools].filter((name) => /bash|shell|exec|write|edit|patch|replace|fetch|search|glob|read_file/i.test(name)),
    ).toEqual([]);
  });

  test.skipIf(!isThere)('a held call waits for a person across a killed worker, and is made once', async () => {
    answer = script(
      [
        { unless: 'marker-one', tool: 'bash', args: { command: 'echo marker-one >> made' } },
        { unless: 'marker-two', tool: 'bash', args: { command: 'echo marker-two >> made; cat made' } },
      ],
      'Both are made.',
    );
    const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
    const { run } = await submit('Make both', { policy });
    const first = await nextApproval(system.client, run.id);
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
    await approve(system.client, first);
    const openOnes = async () =>
      (await system.client.listApprovals({ run_id: run.id })).data.filter(({ id }) => id !== first.id);
    const waits = async () => (await openOnes()).length > 0;
    await until('the second call waits', waits, { withinMs: 100_000 }).catch(async (error: unknown) => {
      throw new Error(JSON.stringify((await system.client.getRun(run.id)).reason), { cause: error });
    });
    const [second = first] = await openOnes();
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
    await approve(system.client, second);
    const end = await finished(system.client, run.id);
    expect(end.reason?.message).toBeUndefined();
    expect(end.status).toBe('succeeded');
    const { data: steps } = await system.client.listSteps(run.id);
    expect(steps.map(({ tool, status }) => `${tool} ${status}`)).toEqual(['bash succeeded', 'bash succeeded']);
  });

  test.skipIf(!isThere)('killed workers at any moment: files and calls are made once, in order', async () => {
    const marks = Array.from({ length: 6 }, (_, at) => at);
    const command = (mark: number) =>
      `${mark % 2 ? 'sleep 0.4; ' : ''}echo m${mark} >> made; echo out-$((1000+${mark}))`;
    answer = script(
      marks.map((mark) => ({ unless: `out-${1000 + mark}`, tool: 'bash', args: { command: command(mark) } })),
      'All are made.',
    );
    const { run } = await submit('Make all');
    const moments = [1, 2, 4].map((calls) => ({ calls, ms: Math.round(Math.random() * 1500) }));
    for (const { calls, ms } of moments) {
      const made = async () => (await system.client.listSteps(run.id)).data.length >= calls;
      await until(`it has made ${calls} calls`, made, { withinMs: 60_000 });
      await new Promise((resolve) => setTimeout(resolve, ms));
      await worker.signal('SIGKILL');
      worker = await system.startWorker();
    }
    const { reason } = await finished(system.client, run.id);
    const { data: steps } = await system.client.listSteps(run.id);
    const made = await Array.fromAsync(await system.client.readFile(run.id, { path: 'made' }));
    expect({ moments, reason: reason?.message, file: Buffer.concat(made).toString() }).toEqual({
      ...{ moments, reason: undefined },
      file: marks.map((mark) => `m${mark}\n`).join(''),
    });
    expect(steps.map(({ tool, status }) => `${tool} ${status}`)).toEqual(marks.map(() => 'bash succeeded'));
  });
});
