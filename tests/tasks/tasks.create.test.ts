import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { todaysOf } from '../../scripts/full-forms.ts';
import { type ModelServer, openModelServer } from '../harness/model-server.ts';
import { useSystem } from '../harness/use-system.ts';
import { allTasks, missing } from './all.ts';
import { nextTurn, run } from './expert.ts';
import { type ExpertServer, openExpertServer } from './expert-server.ts';
import { nodeForCommands } from './node-for-commands.ts';
import { modelSettings, readOptions } from './options.ts';
import { hits, part } from './reading.ts';
import { tryTask } from './try-task.ts';

const tasks = await allTasks();
/** `npm run tasks` has all of them. */
const today = todaysOf(
  tasks.filter((task) => missing(task).length === 0),
  2,
);

let experts: ExpertServer;
let lazy: ModelServer;
beforeAll(async () => {
  experts = await openExpertServer(today);
  lazy = await openModelServer(({ results }) =>
    results.length > 0
      ? { text: 'Done.' }
      : { calls: [{ tool: 'write_file', args: { path: 'NOTES.md', content: 'Looked at it.\n' } }] },
  );
});
afterAll(async () => {
  await experts[Symbol.asyncDispose]();
  await lazy[Symbol.asyncDispose]();
});
const system = useSystem({
  env: () => ({
    ...nodeForCommands(),
    HOLDPOINT_MODEL: 'openai-compatible/expert',
    OPENAI_COMPATIBLE_BASE_URL: `${experts.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'no-secret',
    OLLAMA_BASE_URL: `${lazy.url}/v1`,
  }),
});

test('there are twenty tasks, in several languages and of every kind', () => {
  expect(tasks).toHaveLength(20);
  expect(new Set(tasks.map(({ language }) => language)).size).toBeGreaterThan(5);
  expect(Object.keys(Object.groupBy(tasks, ({ kind }) => kind)).toSorted()).toEqual(['bug', 'feature', 'migration']);
  expect(tasks.filter(({ wrong }) => Object.keys(wrong).length === 0)).toEqual([]);
  expect(new Set(tasks.map(({ prompt }) => prompt)).size).toBe(20);
});

test('every file of a task is in the repository: git leaves none out', () => {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--', 'tests/tasks', 'examples'];
  expect(spawnSync('git', args, { encoding: 'utf8' }).stdout).toBe('');
});

/** The tokens of each task's results. */
const read: { asText: number; asJson: number }[] = [];

describe.for(today)('$name', (task) => {
  test('is solved by its expert; the validator refuses the repository as it was, and wrong changes', async () => {
    const { client, directory } = system;
    const outcome = await tryTask({ client, directory, resultsOf: experts.resultsOf }, task);
    expect(outcome.problems).toEqual([]);
    expect(outcome).toMatchObject({ solved: true });
    const { asText = 0, asJson = 0, readAsJson = 0 } = outcome.results ?? {};
    expect(asText / asJson).toBeLessThan(0.8);
    read.push({ asText, asJson });
    expect(readAsJson).toBeGreaterThan(outcome.read);
  });
});

test('all results together have less than 0.6 of the tokens of their JSON', () => {
  const sum = (of: 'asText' | 'asJson') => read.reduce((all, one) => all + one[of], 0);
  expect(read).toHaveLength(today.length);
  expect(sum('asText') / sum('asJson')).toBeLessThan(0.6);
});

test('a model that changes something else has not solved its task', async () => {
  const { client, directory } = system;
  const [task] = today;
  const outcome = await tryTask({ client, directory, model: 'ollama/lazy' }, task as (typeof today)[number]);
  expect(outcome).toMatchObject({ solved: false, turns: 2 });
  expect(outcome.problems.join()).toMatch(/the hidden validator fails|tests/);
});

test('an expert finds its way by results alone', () => {
  function* expert() {
    const [hit] = hits(yield* run('rg -n x'));
    const shown = yield* run(`sed -n ${hit?.line}p ${hit?.path}`);
    return part(shown, 'const');
  }
  expect(nextTurn(expert, [])).toMatchObject({ calls: [{ args: { command: 'rg -n x' } }] });
  const found = '1 match\nsrc/a.ts\n7:const x = 1;';
  expect(nextTurn(expert, [found])).toMatchObject({ calls: [{ args: { command: 'sed -n 7p src/a.ts' } }] });
  expect(nextTurn(expert, [found, 'lines 7-7 of 9\n7\tconst x = 1;'])).toEqual({ text: 'const x = 1;' });
  expect(nextTurn(expert, ['no match'])).toMatchObject({ text: expect.stringContaining('I am lost') });
});

test('a wrong name is refused with the known ones; a model gets the settings of its provider alone', () => {
  expect(() => readOptions(['js-csv'], tasks)).toThrow(/no task js-csv\..*js-csv-quotes/);
  expect(readOptions(['--model', 'ollama/x', 'js-csv-quotes'], tasks)).toMatchObject({
    model: 'ollama/x',
    tasks: [{ name: 'js-csv-quotes' }],
  });
  const env = { ANTHROPIC_API_KEY: 'k', HOLDPOINT_MODELS: 'm', HOLDPOINT_DATA: '/home/data', REDIS_URL: 'redis://own' };
  expect(modelSettings(env)).toEqual({ ANTHROPIC_API_KEY: 'k', HOLDPOINT_MODELS: 'm' });
});
