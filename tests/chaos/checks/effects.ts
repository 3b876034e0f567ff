import type { StepState } from '@holdpoint/engine';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Found, FoundRun } from '../collect.ts';
import { isLost, type Ledger } from '../ledger.ts';
import { marksIn } from '../scenario.ts';

/** How often an effect is expected in the final files. `maybe`: at most once. */
type Expected = 'once' | 'never' | 'maybe';

/** Every effect on the workspace is in the final files exactly once, or not at all when its step has no outcome. */
export function workspaceEffects(found: Found, ledger: Ledger): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [id, one] of found.runs) {
    const expected = expectedOf(found, one, ledger.runs.get(id)?.forkedFrom);
    for (const mark of new Set([...expected.keys(), ...one.marks.keys()])) {
      looked += 1;
      const count = one.marks.get(mark) ?? 0;
      const wanted = expected.get(mark) ?? 'never';
      const holds = wanted === 'once' ? count === 1 : wanted === 'never' ? count === 0 : count <= 1;
      if (!holds) wrong.push(`${id} (${one.run.status}): ${mark} is ${count} times in the files, expected: ${wanted}`);
    }
  }
  return verdict('every workspace effect is there exactly once', looked, 'effects', wrong);
}

function expectedOf(
  found: Found,
  one: FoundRun,
  fork: { runId: string; kept: string[] } | undefined,
): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  const expectMark = (mark: string, what: Expected): void => {
    const rank = { never: 0, maybe: 1, once: 2 } as const;
    if (rank[what] >= rank[expected.get(mark) ?? 'never']) expected.set(mark, what);
  };
  const parent = fork && found.runs.get(fork.runId);
  for (const step of parent?.steps ?? []) {
    const isKept = fork?.kept.includes(step.id) ?? false;
    for (const [mark, what] of effectsOf(found, parent as FoundRun, step)) {
      // A background command may have written before the fork started, or later.
      if (isBackground(parent as FoundRun, step)) expectMark(mark, 'maybe');
      else if (isKept) expectMark(mark, what);
    }
  }
  // A sub-agent starts with the files of its parent, possibly a fork.
  const parentRun = one.run.parent && found.runs.get(one.run.parent.run_id);
  const before = parentRun?.run.forked_from && found.runs.get(parentRun.run.forked_from.run_id);
  for (const past of [parentRun, before]) {
    for (const step of past?.steps ?? [])
      for (const mark of marksIn(past?.args.get(step.id))) expectMark(mark, 'maybe');
  }
  for (const step of one.steps) for (const [mark, what] of effectsOf(found, one, step)) expectMark(mark, what);
  return expected;
}

const isBackground = ({ args }: FoundRun, step: StepState): boolean =>
  (args.get(step.id) as { run_in_background?: boolean })?.run_in_background === true;

function effectsOf(found: Found, one: FoundRun, step: StepState): [string, Expected][] {
  const marks = marksIn(one.args.get(step.id));
  const { tool } = step.call;
  if (step.status === 'undone') return [];
  if (tool === 'task_merge') {
    const id = (one.args.get(step.id) as { task_id?: string }).task_id;
    const child = one.tasks.find((task) => task.id === id)?.about.child;
    const theirs = child === undefined ? undefined : found.runs.get(child);
    return [...(theirs?.marks.keys() ?? [])]
      .filter((mark) => theirs?.steps.some(({ id }) => marksIn(theirs.args.get(id)).includes(mark)))
      .map((mark) => [mark, step.status === 'succeeded' ? 'once' : 'never']);
  }
  if (tool !== 'bash' && tool !== 'write_file') return [];
  if (isBackground(one, step)) return marks.map((mark) => [mark, backgroundEffect(one, step)]);
  return marks.map((mark) => [mark, foregroundEffect(step)]);
}

/** The outcome of a step and the snapshot with its effect are a single log entry. */
function foregroundEffect({ status, outcome }: StepState): Expected {
  if (outcome?.inherited_from !== undefined) return status === 'succeeded' || status === 'failed' ? 'once' : 'never';
  const value = outcome?.value;
  const isConfirmed =
    value !== undefined &&
    'json' in value &&
    typeof value.json === 'object' &&
    value.json !== null &&
    'confirmed_by' in value.json;
  if (status === 'succeeded' && !isConfirmed) return 'once';
  if (status === 'failed' && outcome?.error?.code === 'EEXIT') return 'once';
  return 'never';
}

/** A completed background command has its effect. A killed or lost command may have its effect. */
function backgroundEffect({ tasks, run }: FoundRun, step: StepState): Expected {
  const task = tasks.find(({ id }) => id === step.task);
  if (task === undefined) return 'never';
  if (task.status === 'completed') return run.status === 'canceled' ? 'maybe' : 'once';
  return task.started_at === undefined ? 'never' : 'maybe';
}

/** A command makes its request within this time after the record of its start. */
const requestMs = 5000;

/**
 * An external request is made at most once, and once more for each approval by a person. A request whose start was recorded in a period
 * lost by Redis does not count: the system cannot know about the request.
 */
export function externalEffects({ runs }: Found, ledger: Ledger): Verdict {
  const visits = [...ledger.visits].map(
    ([mark, times]) =>
      [mark, times.filter((at) => !isLost(ledger, { sent: at - requestMs, answered: at })).length] as const,
  );
  const allowed = new Map<string, number>();
  for (const { steps, args, events } of runs.values()) {
    for (const step of steps) {
      const [, mark] = /curl -sS http:\/\/[^/]+\/(m\d+-\d+)/.exec(JSON.stringify(args.get(step.id))) ?? [];
      if (mark === undefined || step.attempt === 0) continue;
      const asked = events.flatMap((event) =>
        event.type === 'approval.requested' && event.step_id === step.id && event.data.kind === 'indeterminate'
          ? [event.data.approval_id]
          : [],
      );
      const again = events.filter(
        (event) =>
          event.type === 'approval.decided' &&
          event.data.decision === 'approve' &&
          asked.includes(event.data.approval_id),
      );
      allowed.set(mark, (allowed.get(mark) ?? 0) + 1 + again.length);
    }
  }
  const wrong = visits.flatMap(([mark, count]) =>
    count > (allowed.get(mark) ?? 0)
      ? [`${mark} was requested ${count} times, allowed: ${allowed.get(mark) ?? 0}`]
      : [],
  );
  return verdict('no external effect is more frequent than a person approved', visits.length, 'effects', wrong);
}

/** Every published run is at the source, once, with the files of the final snapshot. */
export async function publications(
  { runs }: Found,
  ledger: Ledger,
  read: (branch: string) => Promise<{ files: string; commits: number } | undefined>,
  tree: (runId: string) => Promise<string>,
): Promise<Verdict> {
  const wrong: string[] = [];
  const published = ledger.published.filter(({ at }) => !isLost(ledger, at));
  for (const { runId: id } of published) {
    const run = runs.get(id)?.run;
    if (run?.publication !== 'published') {
      wrong.push(`${id} should be published and is ${run?.publication}`);
      continue;
    }
    const there = await read(`holdpoint/${id}`);
    if (there === undefined) wrong.push(`${id} is published without a branch`);
    else if (there.commits > 1) wrong.push(`${id} was published by ${there.commits} commits`);
    else if (there.files !== (await tree(id))) wrong.push(`${id}: the branch has other files than the final snapshot`);
  }
  return verdict('every published run is at the source, once', published.length, 'branches', wrong);
}
