import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowBash } from '../harness/index.ts';
import { checkMerge } from './check-merge.ts';
import { checkPatch, checkPublish, userFiles } from './check-publish.ts';
import {
  approveNext,
  editsOf,
  snapshotFiles,
  submit,
  treeFiles,
  waitUntilHeld,
  waitUntilSucceeded,
} from './drive-run.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { difference, filesOnDisk, isGit } from './files-on-disk.ts';
import { fsck, git, treeEntries } from './real-git.ts';
import { cloneReference } from './reference-clone.ts';
import { scenarios } from './scenarios/all.ts';

const isFull = process.env.HOLDPOINT_REPOSITORIES === 'full';
const chosen = scenarios.filter(({ isBounded }) => isFull || isBounded === true);

let environment: Environment;
beforeAll(async () => {
  environment = await openEnvironment();
});
afterAll(() => environment[Symbol.asyncDispose]());

/** Some 30 commands and publishes follow each other, so a busy machine adds its delay to each: the bound is the same in every suite. */
const timeout = 300_000;

test.for(chosen)('$name: workspace, patch, commit, merge and fork match git', { timeout }, async (scenario) => {
  const { system } = environment;
  const { client } = system;
  const folder = environment.folderOf(scenario, 'git');
  const made = scenario.make(folder);
  const complaints = fsck(made.path);
  const before = userFiles(folder);
  const clone = cloneReference(made, `${folder}-clone`);
  const atBase = filesOnDisk(clone.folder, { without: isGit });
  const runId = await submit(client, scenario, made, 'git');

  await waitUntilHeld(client, runId);
  expect(difference(treeFiles(system, runId), atBase), 'the files of the new workspace').toEqual([]);
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
  expect(difference(treeFiles(system, runId), nearlyDone), 'the files after the steps').toEqual([]);
  await client.pauseRun(runId);
  expect(await client.undoSteps(runId, { to_step: 1 })).toMatchObject({ restored: true });
  expect(difference(treeFiles(system, runId), begun), 'the files after an undo').toEqual([]);
  await client.resumeRun(runId);
  await approveNext(client, runId);
  await waitUntilSucceeded(client, runId);
  clone.edit(rest.at(-1) ?? '');
  const done = filesOnDisk(clone.folder, { without: isGit });
  expect(difference(treeFiles(system, runId), done), 'the files at the end').toEqual([]);
  const whole = treeEntries(clone.folder, clone.wholeTree(), { submodules: false });
  expect(difference(await snapshotFiles(client, runId), whole), 'the last snapshot').toEqual([]);

  expect(difference(userFiles(folder), before), 'the source after the run').toEqual([]);
  const input = { client, runId, made, folder, clone };
  await checkPatch({ ...input, aboveThePatch: scenario.aboveThePatch });
  const commit = await checkPublish(input);

  const { run: fork } = await client.forkRun(runId, { from_step: 2, policy: { rules: [allowBash] } });
  await waitUntilSucceeded(client, fork.id);
  expect(difference(treeFiles(system, fork.id), done), 'the files of a fork').toEqual([]);
  expect(difference(await snapshotFiles(client, fork.id), whole), 'the snapshot of a fork').toEqual([]);

  const moved = { theirs: scenario.theirs, conflicting: scenario.conflicting };
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
