import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const key = 'canary-key-of-the-provider';
const own = mkdtempSync(join(tmpdir(), 'holdpoint-own-claude-'));
mkdirSync(join(own, 'bin'), { mode: 0o755 });
chmodSync(own, 0o755);
copyFileSync(join(import.meta.dirname, 'own-claude.mjs'), join(own, 'bin/claude'));
chmodSync(join(own, 'bin/claude'), 0o755);
afterAll(() => rmSync(own, { recursive: true, force: true }));

const hold = { policy: { rules: [{ match: { tool: 'Bash' }, action: 'hold' as const }] } };

interface Scripted {
  unless: string;
  calls: { tool: string; args: object }[];
  text?: string;
}
const bash = (command: string) => ({ tool: 'Bash', args: { command, description: 'a command' } });

/** A model that makes these calls one after the other, each once its words are not in the conversation yet. */
const script =
  (steps: readonly Scripted[], end = 'All done.') =>
  (asked: Asked): Says => {
    if (!asked.tools.includes('Bash')) return { text: 'A title' };
    const next = steps.find(({ unless }) => !asked.text.includes(unless));
    return next === undefined ? { text: end } : { text: next.text, calls: next.calls };
  };

describe.each([
  ['an agent of our own', own, 'own-claude'],
  ['Claude Code', join(projectDir, '.cache/agents'), 'claude-code'],
])('%s with its own tools', (_, toolchain, kind) => {
  const isThere = existsSync(join(toolchain, 'bin/claude'));
  const isOwn = kind === 'own-claude';
  let answer: (asked: Asked) => Says = () => ({ text: 'no script' });
  let model: ScriptedModel;
  let system: System;
  let worker: AppProcess;

  beforeAll(async () => {
    if (!isThere) return;
    model = await openScriptedModel((asked) => answer(asked));
    system = await startSystem({
      HOLDPOINT_TOOLCHAINS: toolchain,
      HOLDPOINT_OUTSIDE_AGENT_IDLE_MS: '600000',
      ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: model.url },
    });
    worker = await system.startWorker();
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  const submit = async (steps: readonly Scripted[], more: object = {}, files: Record<string, string> = {}) => {
    answer = script(steps);
    const path = await system.repositoryWith({ 'a.txt': 'one\n', ...files });
    const { run } = await system.client.createRun({
      ...{ prompt: 'Do it', outside_agent: 'claude-code:native', model: 'anthropic/claude-sonnet-4-5' },
      workspace: { source: { type: 'git', path } },
      ...more,
    });
    return { id: run.id, path };
  };
  const stepsOf = async (id: string) =>
    (await system.client.listSteps(id)).data.map(({ tool, status, error }) => `${tool} ${error?.code ?? status}`);
  const fileOf = async (id: string, path: string) =>
    Buffer.concat(await Array.fromAsync(await system.client.readFile(id, { path }))).toString();
  const ended = async (id: string) => {
    const end = await finished(system.client, id);
    expect(end.reason?.message).toBeUndefined();
    expect(end.status).toBe('succeeded');
    return end;
  };
  const paused = (id: string) => system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  /** Processes of the agent on this host, in whatever sandbox. */
  const processes = () =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes('--setting-sources')).length;

  test.skipIf(!isThere)('each call is a step with its snapshot, and the change is published', async () => {
    const { id, path } = await submit([
      { unless: 'I begin', text: 'I begin.', calls: [bash('echo two > b.txt; echo from-the-command')] },
      { unless: 'I write', text: 'I write.', calls: [{ tool: 'Write', args: { file_path: '/workspace/c.txt', content: 'three\n' } }] },
    ]);
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded', 'Write succeeded']);
    const [first] = (await system.client.listSteps(id)).data;
    expect(JSON.stringify(await system.client.getStep(first?.id ?? ''))).toContain('from-the-command');
    const { data } = await system.client.listSnapshots(id);
    expect(data.length).toBeGreaterThanOrEqual(3);
    await system.client.publish(id);
    await published(system.client, id);
    expect(await git(path, 'show', `holdpoint/${id}:b.txt`)).toBe('two');
    expect(await git(path, 'show', `holdpoint/${id}:c.txt`)).toBe('three');
    expect(await placesWith(system, [key])).toEqual([]);
    await until('no process of the agent is left', () => processes() === 0, { withinMs: 20_000 });
  });

  test.skipIf(!isThere)('a held call parks without a process, survives a killed worker, and is made once', async () => {
    const { id } = await submit(
      [
        { unless: 'marker-one', calls: [bash('echo marker-one >> made')] },
        { unless: 'marker-two', calls: [bash('echo marker-two >> made; cat made')] },
      ],
      hold,
    );
    const first = await nextApproval(system.client, id);
    await until('the agent has ended', () => processes() === 0, { withinMs: 20_000 });
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
    await approve(system.client, first);
    const open = async () =>
      (await system.client.listApprovals({ run_id: id })).data.filter((one) => one.id !== first.id);
    await until('the second call waits', async () => (await open()).length > 0, { withinMs: 40_000 }).catch(
      async (error: unknown) => {
        throw new Error(JSON.stringify((await system.client.getRun(id)).reason), { cause: error });
      },
    );
    const [second = first] = await open();
    await approve(system.client, second, 'as you wish');
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded', 'Bash succeeded']);
    expect(await fileOf(id, 'made')).toBe('marker-one\nmarker-two\n');
  });
});
