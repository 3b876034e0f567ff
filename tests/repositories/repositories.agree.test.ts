import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkMerge } from './check-merge.ts';
import { checkPatch, checkPublish, untouched } from './check-publish.ts';
import { difference } from './difference.ts';
import { filesOnDisk, isGit } from './files-on-disk.ts';
import { cloneOrdinarily } from './ordinary-clone.ts';
import { fsck, git, treeEntries } from './real-git.ts';
import { scenarios } from './scenarios/every.ts';
import { openTrial, type Trial } from './trial.ts';
import { approveNext, editsOf, snapshotFiles, staged, submit, succeeded, waitUntilHeld } from './try-run.ts';

const isFull = process.env.HOLDPOINT_REPOSITORIES === 'full';
const chosen = scenarios.filter(({ isBounded }) => isFull || isBounded === true);

let trial: Trial;
beforeAll(async () => {
  trial = await openTrial();
});
afterAll(() => trial[Symbol.asyncDispose]());

test.for(chosen)('$name: workspace, patch, commit, merge and fork equal those of git', async (scenario) => {
  const { system } = trial;
  const { client } = system;
  const folder = trial.folderOf(scenario, 'git');
  const made = scenario.make(folder);
  const complaints = fsck(made.path);
  const before = untouched(folder);
  const clone = cloneOrdinarily(made, `${folder}-clone`);
  const atBase = filesOnDisk(clone.folder, { without: isGit });
  const runId = await submit(client, scenario, made, 'git');

  await waitUntilHeld(client, runId);
  expect(difference(staged(system, runId), atBase), 'the files of the new workspace').toEqual([]);
  await approveNext(client, runId);
  const { base } = (await client.getRun(runId)).workspace;
  const committed = treeEntries(clone.folder, clone.base, { submodules: false });
  expect(difference(await snapshotFiles(client, runId, base ?? ''), committed), 'the first snapshot').toEqual([]);

  const [begin = '', ...rest] = editsOf(scenario);
  clone.edit(begin);
  const begun = filesOnDisk(clone.folder, { without: isGit });
  for (const script of rest.slice(0, -1)) clone.edit(script);
  const nearlyDone = filesOnDisk(clone.folder, { without: isGit });
  await waitUntilHeld(client, runId);
  expect(difference(staged(system, runId), nearlyDone), 'the files after the steps').toEqual([]);
  await client.pauseRun(runId);
  expect(await client.undoSteps(runId, { to_step: 1 })).toMatchObject({ restored: true });
  expect(difference(staged(system, runId), begun), 'the files after an undo').toEqual([]);
  await client.resumeRun(runId);
  await approveNext(client, runId);
  await succeeded(client, runId);
  clone.edit(rest.at(-1) ?? '');
  const done = filesOnDisk(clone.folder, { without: isGit });
  expect(difference(staged(system, runId), done), 'the files at the end').toEqual([]);
  const whole = treeEntries(clone.folder, clone.wholeTree(), { submodules: false });
  expect(difference(await snapshotFiles(client, runId), whole), 'the last snapshot').toEqual([]);

  expect(difference(untouched(folder), before), 'the source after the run').toEqual([]);
  const input = { client, runId, made, folder, clone };
  await checkPatch(input);
  const commit = await checkPublish(input);

  const { run: fork } = await client.forkRun(runId, { from_step: 2, policy: { rules: [] } });
  await succeeded(client, fork.id);
  expect(difference(staged(system, fork.id), done), 'the files of a fork').toEqual([]);
  expect(difference(await snapshotFiles(client, fork.id), whole), 'the snapshot of a fork').toEqual([]);

  const moved = { theirs: scenario.theirs, clash: scenario.clash };
  for (const [branch, script] of Object.entries(moved)) {
    if (script !== undefined) await checkMerge({ ...{ client, runId, made, folder, commit }, branch, script });
  }
  await client.discard(fork.id);
  await client.discard(runId);
  await client.waitForRun(runId, { until: ({ publication }) => publication.status === 'discarded' });
  expect(git(made.path, ['for-each-ref', 'refs/holdpoint'])).toBe('');
  expect(fsck(made.path)).toBe(complaints);
  expect(git(made.path, ['rev-parse', `holdpoint/${runId}`]).trim()).toBe(commit);
});
