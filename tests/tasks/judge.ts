import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@holdpoint/client';
import { allowBash } from '../harness/runs.ts';
import type { NamedTask } from './all.ts';
import { treeOfBranch, treeWith } from './trees.ts';

/** The verdict of a validator on a tree. */
export interface Verdict {
  /** `before`, `after`, or the name of a wrong change. */
  of: string;
  passed: boolean;
  /** The end of the validator's output. */
  output: string;
}

const mostMinutes = 15;

interface Judged {
  task: NamedTask;
  /** The repository and the branch with a solution. */
  solution?: { repository: string; branch: string } | undefined;
  /** True: the repository as it is, and the wrong changes, are judged as well. */
  withWrong: boolean;
}

/** Runs the validator of a task on each tree, in the sandbox: a run of its own, which no agent sees. */
export async function judge(client: Client, directory: string, judged: Judged): Promise<Verdict[]> {
  const source = await mkdtemp(join(directory, 'judged-'));
  const names = await makeTrees(judged, source);
  if (names.length === 0) return [];
  const { run } = await client.createRun({
    title: `${judged.task.name}: validator`,
    workspace: { source: { type: 'directory', path: source } },
    policy: { rules: [allowBash] },
    plan: { groups: names.map((name) => ({ steps: [{ tool: 'bash', args: checkOf(judged.task, name) }] })) },
  });
  await client.waitForRun(run.id, { signal: AbortSignal.timeout(mostMinutes * 60_000) });
  const steps = (await client.listSteps(run.id)).data;
  return Promise.all(
    steps.map(async ({ id }, at) => {
      const { result } = await client.getStep(id);
      const { stdout = '' } = (result ?? {}) as { stdout?: string };
      return { of: names[at] ?? '', passed: stdout.trimEnd().endsWith('verdict 0'), output: stdout.slice(-700) };
    }),
  );
}

/** Always ends with 0, so each tree of the plan is judged. */
const checkOf = ({ check }: NamedTask, cwd: string) => ({
  command: `(\n${check}\n) 2>&1 < /dev/null\necho "verdict $?"`,
  cwd,
});

async function makeTrees({ task, solution, withWrong }: Judged, source: string): Promise<string[]> {
  const names: string[] = [];
  const add = async (name: string, make: (into: string) => Promise<void>) => {
    await mkdir(join(source, name));
    await make(join(source, name));
    names.push(name);
  };
  if (withWrong) {
    await add('before', (into) => treeWith(task, [], into));
    for (const [name, changes] of Object.entries(task.wrong)) {
      await add(name.replaceAll(' ', '-'), (into) => treeWith(task, changes, into));
    }
  }
  if (solution !== undefined) {
    await add('after', (into) => treeOfBranch(task, solution.repository, solution.branch, into));
  }
  return names;
}
