import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approveNext, editsOf, publishNow, submit, treeFiles, waitUntilHeld, waitUntilSucceeded } from './drive-run.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { difference, filesOnDisk } from './files-on-disk.ts';
import { runScript } from './real-git.ts';
import { scenarios } from './scenarios/all.ts';

const isFull = process.env.HOLDPOINT_REPOSITORIES === 'full';
const chosen = scenarios.filter(({ asDirectory }) => asDirectory === 'bounded' || (isFull && asDirectory === 'full'));

let environment: Environment;
beforeAll(async () => {
  environment = await openEnvironment();
});
afterAll(() => environment[Symbol.asyncDispose]());

/** A run on a directory has everything in it except repositories. */
const ofGit = (path: string): boolean => path.split('/').includes('.git');

test.for(chosen)('$name as a directory: the publish equals the edits', async (scenario) => {
  const { system } = environment;
  const { client } = system;
  const folder = environment.folderOf(scenario, 'directory');
  const { path } = scenario.make(folder);
  const reference = `${folder}-reference`;
  runScript(folder, `cp -a '${path}' '${reference}'`);
  const atBase = filesOnDisk(reference, { without: ofGit });
  const before = filesOnDisk(folder, { exactly: true });

  const runId = await submit(client, scenario, { path }, 'directory');
  await waitUntilHeld(client, runId);
  expect(difference(treeFiles(system, runId), atBase), 'the files of the new workspace').toEqual([]);
  await approveNext(client, runId);
  await approveNext(client, runId);
  await waitUntilSucceeded(client, runId);
  for (const script of editsOf(scenario)) runScript(reference, script);
  const done = filesOnDisk(reference, { without: ofGit });
  expect(difference(treeFiles(system, runId), done), 'the files at the end').toEqual([]);
  expect(difference(filesOnDisk(folder, { exactly: true }), before), 'the source after the run').toEqual([]);

  writeFileSync(join(path, 'of-the-user'), 'written during the run\n');
  writeFileSync(join(reference, 'of-the-user'), 'written during the run\n');
  const preview = await client.previewPublish(runId);
  expect(preview).toMatchObject({ conflicts: [], left_out: [] });
  const { published } = await publishNow(client, runId);
  const removed = preview.files.filter(({ status }) => status === 'deleted').length;
  expect(published).toMatchObject({ files_written: preview.files.length - removed, files_deleted: removed });
  expect(difference(filesOnDisk(path, { without: ofGit }), filesOnDisk(reference, { without: ofGit }))).toEqual([]);

  const inPath = (name: string): string | undefined =>
    name.startsWith(`${path}/`.slice(folder.length + 1)) ? name.slice(path.length - folder.length) : undefined;
  const isEdited = (full: string): boolean => {
    const name = inPath(full);
    return name !== undefined && (name === 'of-the-user' || atBase.get(name) !== done.get(name));
  };
  const others = new Map([...before].filter(([name]) => !isEdited(name)));
  const now = filesOnDisk(folder, { without: isEdited, exactly: true });
  expect(difference(now, others), 'what the run did not change').toEqual([]);
});
