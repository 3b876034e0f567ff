import type { CreateRun } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finished, type System, startSystem } from '../harness/index.ts';

let installations: System[];
beforeAll(async () => {
  installations = await Promise.all([startSystem(), startSystem()]);
  await Promise.all(installations.map((system) => system.startWorker()));
});
afterAll(async () => {
  await Promise.all(installations.map((system) => system[Symbol.asyncDispose]()));
});

const bash = (command: string, more: object = {}) => ({ tool: 'bash', args: { command, ...more } });
const groups: NonNullable<CreateRun['plan']>['groups'] = [
  {
    steps: [
      { tool: 'write_file', args: { path: 'a/b.txt', content: 'b\n' } },
      bash('umask; echo x > new; ls -l new | cut -c1-10'),
    ],
  },
  { steps: [bash('env | sort | grep -E "^(TZ|LC_ALL|HOME|SOURCE_DATE_EPOCH|PYTHONHASHSEED)="')] },
  {
    steps: [
      bash(
        "python3 -c \"print(sorted({1}), hash('a'), list({'a','b','c','d'}))\" | tee set.txt; ls | sort -R --random-source=/dev/zero",
      ),
    ],
  },
  { steps: ['a', 'new', 'set.txt'].map((path) => ({ tool: 'read_file', args: { path } })), on_error: 'continue' },
];
/** Commands in the background and sub-agents run beside the calls: the order of their events is not fixed, and what they leave is. */
const beside: typeof groups = [
  ...groups,
  { steps: [{ name: 'bg', ...bash('echo bg > bg.txt', { run_in_background: true }) }] },
  { steps: [{ tool: 'task_output', args: { task_id: { $from: 'bg', pointer: '/task_id' }, wait_s: 60 } }] },
  {
    steps: [
      { name: 'sub', tool: 'task', args: { description: 's', plan: [{ steps: [bash('date -u +%Z > sub.txt')] }] } },
    ],
  },
  { steps: [{ tool: 'task_merge', args: { task_id: { $from: 'sub', pointer: '/task_id' } } }] },
];

/** Everything that a run left, with each random id replaced by its number in the order of appearance, and without times. */
async function trace(system: System, plan: { groups: typeof groups }) {
  const path = await system.directoryWith({ 'README.md': 'read me\n', 'src/index.js': 'export {};\n' });
  const { run } = await system.client.createRun({
    ...{ plan, policy: { rules: [{ match: {}, action: 'allow' }] }, modes: { deterministic: true } },
    workspace: { source: { type: 'directory', path } },
  });
  const ended = await finished(system.client, run.id);
  const events = [];
  for await (const event of system.client.events(run.id)) {
    events.push(event);
    if (event.type === 'run.succeeded' || event.type === 'run.failed') break;
  }
  const seen = new Map<string, string>();
  const text = JSON.stringify(events.map(({ type, data }) => [type, data]))
    .replaceAll(path, 'SOURCE')
    .replace(/(run|step|task|apr|evt)_[0-9a-f-]{36}/g, (id, kind: string) => {
      const known = seen.get(id) ?? `${kind}_${seen.size}`;
      seen.set(id, known);
      return known;
    })
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
    .replace(/"worker":"[^"]+"/g, '"worker":"W"');
  const results = JSON.parse(text).filter(([type]: [string]) => /^step.(succeeded|failed)|snapshotted/.test(type));
  return {
    status: ended.status,
    snapshot: ended.workspace.snapshot,
    results,
    events: JSON.parse(text) as [string, unknown][],
  };
}

/** Where it came from and which worker it had. */
const ofTheMachine = new Set(['run.created', 'workspace.progress']);

test('the same input gives the same results, payloads and snapshots in two installations', async () => {
  const [one, other] = await Promise.all(installations.map((system) => trace(system, { groups })));
  expect(one?.status).toBe('succeeded');
  const own = (events: [string, unknown][] = []) => events.filter(([type]) => !ofTheMachine.has(type));
  expect(own(other?.events)).toEqual(own(one?.events));
  expect(other?.snapshot).toBe(one?.snapshot);
});

test('background commands and sub-agents leave the same files and results', async () => {
  const [one, other] = await Promise.all(installations.map((system) => trace(system, { groups: beside })));
  expect(one?.status).toBe('succeeded');
  // A call that waits for a task has one attempt more than one that finds it over.
  const withoutAttempts = (results: [string, object][] = []) =>
    results.map(([type, data]) => [type, { ...data, attempt: undefined }]);
  expect(withoutAttempts(other?.results)).toEqual(withoutAttempts(one?.results));
  expect(other?.snapshot).toBe(one?.snapshot);
});
