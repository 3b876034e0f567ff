import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type OutsideAgentName, outsideAgents } from '@holdpoint/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  approve,
  finished,
  nextApproval,
  processesWith,
  projectDir,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { clients, prepareHome, type StartedClient, startClient, toolchain } from './mcp-clients.ts';
import { type Asked, openScriptedModel, type Says, type ScriptedModel } from './scripted-model.ts';

let system: System;
/** Decides the calls of the clients. */
let outer: ScriptedModel;
/** Decides the calls of the runs that the clients hand over. */
let inner: ScriptedModel;
let answer: (asked: Asked) => Says = () => ({ text: 'no script' });

beforeAll(async () => {
  outer = await openScriptedModel((asked) => answer(asked));
  inner = await openScriptedModel(({ tools, text }) => {
    if (!tools.includes('bash')) return { text: 'A title' };
    if (text.includes('tool_result')) return { text: 'The old files are gone.' };
    return { calls: [{ tool: 'bash', args: { command: 'rm -rf old && echo new > new.txt' } }] };
  });
  system = await startSystem({
    HOLDPOINT_MODEL: 'anthropic/claude-sonnet-4-5',
    ANTHROPIC_API_KEY: 'key-of-the-worker',
    ANTHROPIC_BASE_URL: inner.url,
  });
  await system.startWorker();
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await outer?.[Symbol.asyncDispose]();
  await inner?.[Symbol.asyncDispose]();
});

const started: StartedClient[] = [];
afterEach(() => {
  for (const client of started.splice(0)) client.kill();
});

const holdpoint = async (home: string, ...args: string[]): Promise<void> => {
  await promisify(execFile)(join(projectDir, 'apps/cli/bin/holdpoint'), args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: system.key },
  });
};

/** The client's name of one of our tools; undefined in a request without them, such as one for a title. */
const ours = ({ tools }: Asked, name: string): string | undefined =>
  tools.find((one) => one.includes('holdpoint') && one.endsWith(name));

const lastMatch = (text: string, pattern: RegExp): string | undefined => [...text.matchAll(pattern)].at(-1)?.[1];

/** What the client's model has read of the run so far, as text or as JSON in text. */
const seenOf = ({ text }: Asked) => ({
  runId: lastMatch(text, /(run_[0-9a-f-]{36})/g),
  state: lastMatch(text, /state\W+([a-z]+\/\d+\/\d+\/[a-z_]+\/[\w-]+)/g),
  /** A wait came back with no change. */
  isQuiet: /Nothing happened in this time|changed\W+false/.test(text),
  hasPatch: text.includes('+new'),
});

interface Task {
  prompt: string;
  path: string;
  requestId: string;
}

/** Hands the task over, waits until its end, and reads the patch. A model that does not get on says so. */
function handOver({ prompt, path, requestId }: Task): (asked: Asked) => Says {
  let answers = 0;
  return (asked) => {
    const call = (name: string, args: object): Says => ({ calls: [{ tool: ours(asked, name) ?? name, args }] });
    if (ours(asked, 'submit_run') === undefined) return { text: 'A title' };
    answers += 1;
    if (answers > 12) return { text: 'This takes too many calls.' };
    const { runId, state, hasPatch } = seenOf(asked);
    if (runId === undefined) {
      return call('submit_run', { prompt, source: { type: 'directory', path }, request_id: requestId });
    }
    if (hasPatch) return { text: 'The patch is read.' };
    if (state?.startsWith('succeeded')) return call('get_diff', { run_id: runId });
    return call('wait_for_run', { run_id: runId, seen_state: state, timeout_s: 50 });
  };
}

/** Each call of a client's model so far, with what the client had read before it. */
const asked = (): ReturnType<typeof seenOf>[] => outer.asked.filter((one) => ours(one, 'submit_run')).map(seenOf);

const runsOf = async ({ prompt }: Task) =>
  (await system.client.listRuns({ limit: 100 })).data.filter((run) => run.title.includes(prompt));

const runOf = async (task: Task): Promise<string> => {
  await until('the run is there', async () => (await runsOf(task)).length > 0);
  const [run] = await runsOf(task);
  return run?.id ?? '';
};

describe.each(Object.keys(clients) as OutsideAgentName[])('%s', (name) => {
  const isThere = existsSync(join(toolchain, 'bin', outsideAgents[name].program));

  /** A home with the client's configuration and Holdpoint in it, and a task for its model. */
  async function installed(topic: string) {
    const home = await system.directoryWith({ 'work/empty': '' });
    const { file, text } = prepareHome(name, home, outer.url);
    await holdpoint(home, 'mcp', 'install', name);
    const key = readFileSync(join(home, `.config/holdpoint/mcp/${name}.key`), 'utf8').trim();
    const path = await system.directoryWith({ 'old/a.txt': 'a\n' });
    const task = { prompt: `${topic} of ${name}`, path, requestId: randomUUID() };
    /** On a busy machine a client may ask its model before its servers are there; it is started again then, as by its user. */
    const start = async (tries = 5): Promise<StartedClient> => {
      outer.asked.length = 0;
      answer = handOver(task);
      const client = startClient(name, { home, modelUrl: outer.url, prompt: 'Let Holdpoint remove the old files' });
      started.push(client);
      let isOver = false;
      void client.ended.then(() => {
        isOver = true;
      });
      await until(`its model is asked; ${client.said()}`, () => isOver || asked().length > 0);
      return asked().length > 0 || tries === 1 ? client : start(tries - 1);
    };
    return { home, file, text, key, task, start };
  }

  test.skipIf(!isThere)('hands a task over, waits its longest wait, is released, and reads the patch', async () => {
    const { home, file, text, key, task, start } = await installed('A long task');
    const client = await start();
    const runId = await runOf(task);
    const approval = await nextApproval(system.client, runId);
    const hasWaited = () => asked().some(({ isQuiet, state }) => isQuiet && state?.startsWith('waiting'));
    await until(`the longest wait has an answer; ${client.said()}`, hasWaited, { withinMs: 100_000 });
    await approve(system.client, approval);
    expect(await client.ended, client.said()).toBe(0);
    expect(client.said()).toContain('The patch is read.');
    expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
    expect(await runsOf(task)).toHaveLength(1);
    expect(JSON.stringify(outer.asked.map((one) => one.text))).not.toContain(key);

    await holdpoint(home, 'mcp', 'uninstall', name);
    expect(clients[name].own(readFileSync(file, 'utf8'))).toEqual(clients[name].own(text));
    await expect(system.as(key).getRun(runId)).rejects.toMatchObject({ status: 401 });
  });

  test.skipIf(!isThere)('a killed client starts again and finds its run, which has ended by itself', async () => {
    const { task, start } = await installed('A task of a killed client');
    const client = await start();
    const runId = await runOf(task);
    const approval = await nextApproval(system.client, runId);
    await until(`it waits; ${client.said()}`, () => asked().some(({ state }) => state?.startsWith('waiting')));
    client.kill();
    await client.ended;
    // The server that the client started has lost its standard input.
    const serve = `mcp serve --url ${system.api.url()}`;
    await until('its server has ended', async () => (await processesWith(serve)).length === 0);
    await approve(system.client, approval);
    expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
    const again = await start();
    expect(await again.ended, again.said()).toBe(0);
    expect(again.said()).toContain('The patch is read.');
    expect((await runsOf(task)).map(({ id }) => id)).toEqual([runId]);
  });
});
