import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { allowBash, finished, git, openModelServer, projectDir, useGithubSystem } from '../harness/index.ts';

const written = new Set<string>();

/** Writes the word of the prompt, and of each message, into a.txt. */
const server = await openModelServer(({ body }) => {
  const word = [...body.matchAll(/Say (two|three|four|five)/g)].at(-1)?.[1] ?? '';
  if (written.has(word)) return { text: `Said ${word}.` };
  written.add(word);
  const text =
    word === 'three' ? 'cat b.txt >> a.txt && echo three >> a.txt' : `echo ${word} > a.txt && echo ${word} > b.txt`;
  return { calls: [{ tool: 'bash', args: { command: text } }] };
});
afterAll(() => server[Symbol.asyncDispose]());
const used = useGithubSystem({
  env: () => ({
    ...{ HOLDPOINT_MODEL: 'openai-compatible/fake', OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1` },
    HOLDPOINT_MAINTENANCE_MS: '1000',
  }),
});
const { system } = used;
const { client } = system;

test('a published run is woken by a message, and its next publish adds a commit to the same pull request', async () => {
  const pull_request = { provider: 'github' } as const;
  const run = await used.changed('', { prompt: 'Say two.', policy: { rules: [allowBash] } });
  expect(run).toMatchObject({ status: 'succeeded' });
  await client.publish(run.id, { pull_request });
  const first = await git(used.bare, 'rev-parse', `holdpoint/${run.id}`);
  // The maintenance drops the tree of a published run; the run has its files again when it continues.
  await expect.poll(() => existsSync(system.tree(run.id))).toBe(false);
  await expect(client.sendMessage(run.id, 'Say three.')).rejects.toMatchObject({ code: 'run_not_active' });
  const cli = [join(projectDir, 'apps/cli/src/main.ts'), 'runs', 'say', run.id, 'Say three.', '--wake'];
  await promisify(execFile)(process.execPath, cli, {
    env: { ...process.env, HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: system.key, HOLDPOINT_DATA: system.dataDir },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', message: 'Said three.' });
  expect(await git(used.bare, 'rev-parse', `holdpoint/${run.id}`)).toBe(first);
  const { published } = await client.publish(run.id, { pull_request });
  expect(published).toMatchObject({ pull_request: { number: 1 } });
  expect(await git(used.bare, 'log', '--format=%P', '-1', `holdpoint/${run.id}`)).toBe(first);
  expect(await git(used.bare, 'show', `holdpoint/${run.id}:a.txt`)).toBe('two\ntwo\nthree');
  expect(used.github.pulls).toMatchObject([{ body: expect.stringContaining('Said three.') }]);
  expect(used.github.violations).toEqual([]);
});

test('a commit that a reviewer pushed on top is never overwritten', async () => {
  const pull_request = { provider: 'github' } as const;
  const run = await used.changed('', { prompt: 'Say four.', policy: { rules: [allowBash] } });
  await client.publish(run.id, { pull_request });
  const branch = `refs/heads/holdpoint/${run.id}`;
  const tip = await git(used.bare, 'rev-parse', branch);
  const theirs = await git(used.bare, 'commit-tree', '-p', tip, '-m', 'theirs', `${tip}^{tree}`);
  await git(used.bare, 'update-ref', branch, theirs);
  await client.sendMessage(run.id, 'Say five.', { wake: true });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  await expect(client.publish(run.id, { pull_request })).rejects.toMatchObject({ code: 'publish_conflict' });
  expect(await git(used.bare, 'rev-parse', branch)).toBe(theirs);
  await client.publish(run.id, { pull_request, branch: `holdpoint/${run.id}` });
  expect(await git(used.bare, 'log', '--format=%P', '-1', branch)).toBe(theirs);
  expect(used.github.pulls.filter(({ head }) => head.ref === `holdpoint/${run.id}`)).toHaveLength(1);
});
