import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@holdpoint/client';
import type { CreateRun } from '@holdpoint/contract/wire';
import { allowBash, bash, plan, until } from '../harness/index.ts';
import { type ExpectedRun, type Files, listFiles } from './cut.ts';

/** A user's directories and repository, on the disk whose power is cut. */
export interface Sources {
  small: { path: string; files: Files };
  /** Takes a while to copy. */
  large: { path: string; files: Files };
  repository: { path: string; files: Files };
  /** A separate directory, because a publish changes the content. */
  published: { path: string; files: Files };
}

interface Deps {
  client: Client;
  sources: Sources;
  dataDir: string;
  signal: AbortSignal;
}

/** Brings a run to each stage. The caller cuts the power as soon as this resolves. */
export async function reachStages(deps: Deps): Promise<ExpectedRun[]> {
  const [atQuestion, atApproval, background, git, directory, between] = await Promise.all([
    parkedAtQuestion(deps),
    parkedAtApproval(deps),
    withBackground(deps),
    succeeded(deps, 'git'),
    succeeded(deps, 'directory'),
    betweenGroups(deps),
  ]);
  const inStep = await duringStep(deps);
  await Promise.all([git, directory].map(({ runId }) => deps.client.publish(runId)));
  const materialising = await submitted(deps, 'large', 'materialising');
  const justStarted = await submitted(deps, 'small', 'just started');
  return [atQuestion, atApproval, background, git, directory, between, inStep, materialising, justStarted];
}

/** The first run of a new system: parked after its first step. */
export const firstRun = (deps: Deps): Promise<ExpectedRun> => parkedAtQuestion(deps);

/** Submits a run and collects its events from the API. */
async function submit(
  deps: Deps,
  stage: string,
  body: CreateRun,
): Promise<Pick<ExpectedRun, 'stage' | 'runId' | 'events'>> {
  const { client, signal } = deps;
  const { run } = await client.createRun({ title: stage, ...body });
  const events: ExpectedRun['events'] = [];
  const follow = async (): Promise<void> => {
    for await (const event of client.events(run.id, { signal })) events.push(event);
  };
  // The power cut ends the stream.
  follow().catch(() => undefined);
  return { stage, runId: run.id, events };
}

const parked = (deps: Deps, runId: string) =>
  deps.client.waitForRun(runId, { until: (run) => run.pending_approvals > 0, signal: deps.signal });
const ask = { tool: 'ask_user', args: { question: 'Continue?' } };
const look = bash(listFiles, 'look');
const from = (path: string): CreateRun['workspace'] => ({ source: { type: 'directory', path } });

/** Several steps are done, among them a step with many new files. */
async function parkedAtQuestion(deps: Deps): Promise<ExpectedRun> {
  const { small } = deps.sources;
  const made = Array.from({ length: 20 }, (_, index) => [`made/${index}.txt`, `made ${index}\n`] as const);
  const make = 'mkdir made; for i in $(seq 0 19); do echo "made $i" > made/$i.txt; done';
  const count = (mark: string) => bash(`echo ${mark} >> counter`);
  const groups = [[bash(make)], [count('one')], [ask], [look], [count('two')]];
  const about = await submit(deps, 'parked at a question', { plan: plan(...groups), workspace: from(small.path) });
  await parked(deps, about.runId);
  const recorded = new Map([...small.files, ...made, ['counter', 'one\n'] as const]);
  return { ...about, recorded, result: new Map([...recorded, ['counter', 'one\ntwo\n']]) };
}

/** The tool host has written files, and a command is held. */
async function parkedAtApproval(deps: Deps): Promise<ExpectedRun> {
  const { small } = deps.sources;
  const write = (path: string) => ({ tool: 'write_file', args: { path, content: `${path}, written\n` } });
  const edit = { tool: 'edit', args: { path: 'lib/a.txt', old_string: 'two', new_string: 'zwei' } };
  const about = await submit(deps, 'parked at an approval', {
    plan: plan([write('a.md')], [write('deep/er/b.md')], [edit], [look]),
    workspace: from(small.path),
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  await parked(deps, about.runId);
  const written = ['a.md', 'deep/er/b.md'].map((path) => [path, `${path}, written\n`] as const);
  const recorded = new Map([...small.files, ...written, ['lib/a.txt', 'one\nzwei\n'] as const]);
  return { ...about, recorded, result: recorded };
}

/** A background command has written a file and still runs, while its run is parked. */
async function withBackground(deps: Deps): Promise<ExpectedRun> {
  const command = 'echo background > background; sleep 600';
  const groups = [
    [{ tool: 'bash', args: { command, run_in_background: true } }],
    [bash('until [ -s background ]; do sleep 0.05; done; echo foreground > foreground')],
    [ask],
    [bash('cat foreground >> after')],
  ];
  const about = await submit(deps, 'with a background command', { plan: plan(...groups) });
  await parked(deps, about.runId);
  const files = ['foreground', 'after'].map((path) => [path, 'foreground\n'] as const);
  return { ...about, result: new Map([...files, ['background', 'background\n']]), optional: ['background'] };
}

async function duringStep(deps: Deps): Promise<ExpectedRun> {
  const files = [0, 1, 2, 3].map((index) => [`before/${index}`, `before ${index}\n`] as const);
  const groups = [
    [bash('mkdir before; for i in 0 1 2 3; do echo "before $i" > before/$i; done; echo first >> counter')],
    [bash('echo half >> counter; echo half > half; sleep 4; echo whole >> counter')],
    [look],
  ];
  const about = await submit(deps, 'in the middle of a step', { plan: plan(...groups) });
  const half = join(deps.dataDir, 'runs', about.runId, 'trees/1/half');
  await until('the step has written one half', () => existsSync(half));
  return { ...about, result: new Map([...files, ['counter', 'first\nhalf\nwhole\n'], ['half', 'half\n']]) };
}

/** Some of many short groups are done. */
async function betweenGroups(deps: Deps): Promise<ExpectedRun> {
  const marks = Array.from({ length: 60 }, (_, index) => `m${index}\n`);
  const groups = marks.map((mark) => [bash(`printf '%s\\n' ${mark.trim()} >> counter`)]);
  const about = await submit(deps, 'between groups', { plan: plan(...groups) });
  const done = () => about.events.filter(({ type }) => type === 'step.succeeded').length;
  await until('some groups are done', () => done() >= 3);
  return { ...about, result: new Map([['counter', marks.join('')]]) };
}

/** Ready to be published. */
async function succeeded(deps: Deps, type: 'git' | 'directory'): Promise<ExpectedRun> {
  const { path, files } = deps.sources[type === 'git' ? 'repository' : 'published'];
  const groups = [
    [bash('for i in 1 2 3; do echo "new $i" > new_$i; done; rm lib/a.txt')],
    [bash('echo end >> README.md')],
  ];
  const about = await submit(deps, `just published (${type})`, {
    plan: plan(...groups),
    workspace: { source: { type, path } },
    policy: { rules: [allowBash] },
  });
  const { status } = await deps.client.waitForRun(about.runId, { signal: deps.signal });
  if (status !== 'succeeded') throw new Error(`the run to publish is ${status}`);
  const made = [1, 2, 3].map((index) => [`new_${index}`, `new ${index}\n`] as const);
  const result = new Map([...files, ...made, ['README.md', `${files.get('README.md')}end\n`] as const]);
  result.delete('lib/a.txt');
  return { ...about, result, published: { type, path } };
}

/** Acknowledged, without waiting for anything else. */
async function submitted(deps: Deps, name: 'small' | 'large', stage: string): Promise<ExpectedRun> {
  const { path, files } = deps.sources[name];
  const groups = [[bash('echo made > made')], [look]];
  const about = await submit(deps, stage, { plan: plan(...groups), workspace: from(path) });
  return { ...about, result: new Map([...files, ['made', 'made\n']]) };
}
