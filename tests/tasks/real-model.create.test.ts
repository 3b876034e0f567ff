import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectDir } from '../harness/index.ts';
import { allTasks, missing } from './all.ts';
import { type AnthropicExpert, openAnthropicExpert } from './anthropic-expert.ts';

const tasks = await allTasks();
const name = 'js-csv-quotes';
const task = tasks.find((one) => one.name === name);

let provider: AnthropicExpert;
beforeAll(async () => {
  provider = await openAnthropicExpert(tasks, 'the-key');
});
afterAll(() => provider[Symbol.asyncDispose]());

/** `npm run tasks` as a person with a key types it. */
async function runTasks(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, ['tests/tasks/main.ts', ...args], {
    cwd: projectDir,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, lines: said.split('\n') };
}

const cells = (line = ''): string[] => line.trim().split(/\s{2,}/);

test.skipIf(task === undefined || missing(task).length > 0)(
  'a real model of a provider solves a task: from the key of the environment to the printed table',
  async () => {
    const env = { ANTHROPIC_API_KEY: 'the-key', ANTHROPIC_BASE_URL: provider.url };
    const { code, lines } = await runTasks(env, '--model', 'anthropic/claude-sonnet-4-5', name);
    expect(cells(lines[0])).toEqual(['task', 'solved', 'turns', 'holds', 'tokens read', 'cost in $']);
    const [, solved, turns, holds, read, cost] = cells(lines[1]);
    const asked = provider.requests.length;
    expect({ solved, turns: Number(turns), read: Number(read) }).toEqual({
      ...{ solved: 'yes', turns: asked, read: asked * 1000 },
    });
    expect(Number(holds)).toBeGreaterThanOrEqual(0);
    // 3 and 15 dollars for a million tokens read and written.
    expect(Number(cost)).toBeCloseTo(asked * (1000 * 3e-6 + 100 * 15e-6), 3);
    expect(cells(lines[2])[0]).toBe('1/1');
    expect(code).toBe(0);
    expect(new Set(provider.requests.map(({ path }) => path))).toEqual(new Set(['/v1/messages']));
  },
);

test('a wrong key is named, and the exit code says that the task is not solved', async () => {
  const env = { ANTHROPIC_API_KEY: 'another', ANTHROPIC_BASE_URL: provider.url };
  const { code, lines } = await runTasks(env, '--model', 'anthropic/claude-sonnet-4-5', name);
  expect(cells(lines[1])[1]).toBe('NO');
  expect(lines.join('\n')).toMatch(/invalid x-api-key/);
  expect(code).toBe(1);
});

test('a model without a key is refused before a task is tried', async () => {
  const { code, lines } = await runTasks({}, '--model', 'anthropic/claude-sonnet-4-5', name);
  expect(lines.join('\n')).toMatch(/ANTHROPIC_API_KEY/);
  expect(code).not.toBe(0);
});
