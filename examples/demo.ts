// Runs two plans on small real repositories, without a key or a configuration: a failing test, a fix that waits for an approval, the
// passing test, the reviewed change set, and its publish to a git branch and to a directory. Checks every claim, and exits 1 when one fails.
//
//   npm run demo [-- --keep]     --keep leaves the temporary directory
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@holdpoint/client';
import { expect, expectEqual } from './demo/expect.ts';
import { perform } from './demo/perform.ts';
import { heading, proof, quote, say } from './demo/say.ts';
import { failsTests, run } from './demo/shell.ts';
import { startSystem } from './demo/system.ts';
import { createTemporary, differences, digestsOf, type Temporary } from './demo/temporary.ts';

const examples = dirname(fileURLToPath(import.meta.url));
const command = join(examples, '../apps/cli/src/main.ts');
const maxMs = 120_000;

async function demo({ keep, signal }: { keep: boolean; signal: AbortSignal }): Promise<void> {
  const place = await createTemporary(examples, signal);
  try {
    heading('starting Redis, the API and a worker on a temporary data directory');
    const system = await startSystem({ command, data: place.data, signal });
    try {
      say(`listening at ${system.address}`);
      await toBranch({ client: system.client, place, signal });
      await toDirectory({ client: system.client, place, signal });
    } finally {
      heading('stopping the system');
      await system.stop();
    }
  } catch (error) {
    if (interrupted.signal.aborted) await place.remove();
    else say(`\nThe logs are in ${join(place.data, 'logs')}; remove ${place.root} after reading them.`);
    throw error;
  }
  if (keep) return say(`\nKept: ${place.root}`);
  await place.remove();
  say(`\nEvery check passed; ${place.root} is removed.`);
}

interface Scene {
  client: Client;
  place: Temporary;
  signal: AbortSignal;
}

/** A git source: the change set becomes a branch. HEAD and the work tree stay unchanged. */
async function toBranch({ client, place, signal }: Scene): Promise<void> {
  const { pagelist: path, root } = place;
  heading('pagelist: a git repository');
  const head = await run(path, ['git', 'rev-parse', 'HEAD'], signal);
  const source = { type: 'git', path } as const;
  const ended = await perform({ client, signal, examples, name: 'pagelist', source, fixed: 'src/paginate.js' });

  heading('pagelist: published as a branch');
  const { published } = await client.publish(ended.id, reviewed(ended.workspace.snapshot), { signal });
  expect(published?.type === 'git', 'a publish to git');
  await showValidators(client, ended.id, signal);
  const branch = published.branch.replace('refs/heads/', '');
  say(`branch ${branch}\ncommit ${published.commit}`);
  quote(await run(path, ['git', 'log', '--stat', '--format=%h %s', `main..${branch}`], signal));
  expectEqual(await run(path, ['git', 'rev-parse', branch], signal), published.commit, 'tip of the branch');
  expectEqual(await run(path, ['git', 'rev-parse', `${branch}^`], signal), head, 'its parent');
  expectEqual(await run(path, ['git', 'rev-parse', 'HEAD'], signal), head, 'HEAD');
  expectEqual(await run(path, ['git', 'symbolic-ref', 'HEAD'], signal), 'refs/heads/main', 'the current branch');
  expectEqual(await run(path, ['git', 'status', '--porcelain'], signal), '', 'git status');
  proof('HEAD and the work tree are unchanged');

  const checkout = join(root, 'checkout');
  await run(root, ['git', 'clone', '-q', '--branch', branch, path, checkout], signal);
  const test = [process.execPath, '--test'] as const;
  await run(checkout, test, signal);
  await run(checkout, ['git', 'checkout', '-q', 'main'], signal);
  expect(await failsTests(checkout, test, signal), 'the tests to fail on main');
  proof('a checkout of the branch passes the tests that fail on main');
}

/** A directory: unchanged before the publish, and afterwards only the fixed file changes. */
async function toDirectory({ client, place, signal }: Scene): Promise<void> {
  const { cuelines: path } = place;
  heading('cuelines: a plain directory');
  const test = ['python3', '-B', '-m', 'unittest', '-q'] as const;
  expect(await failsTests(path, test, signal), 'the tests to fail before');
  const before = await digestsOf(path);
  const source = { type: 'directory', path } as const;
  const ended = await perform({ client, signal, examples, name: 'cuelines', source, fixed: 'cuelines/timestamps.py' });
  expectEqual(differences(before, await digestsOf(path)).join(), '', 'changes of the directory before the publish');
  proof('the directory is still unchanged');

  heading('cuelines: published to the directory');
  const { published } = await client.publish(ended.id, reviewed(ended.workspace.snapshot), { signal });
  expect(published?.type === 'directory', 'a publish to a directory');
  await showValidators(client, ended.id, signal);
  say(`${published.path}: ${published.files_written} written, ${published.files_deleted} deleted`);
  expectEqual(differences(before, await digestsOf(path)).join(), 'cuelines/timestamps.py', 'changed files');
  proof('only the fixed file changed');
  await run(path, test, signal);
  proof('the directory passes the tests that failed before');
}

/** The published files passed the plan's validators in the sandbox. */
async function showValidators(client: Client, runId: string, signal: AbortSignal): Promise<void> {
  const { passed, results } = await client.getValidation(runId, { signal });
  expect(passed, 'the validators to pass');
  for (const { name, status, duration_ms } of results)
    say(`validator ${name}: ${status} in ${Math.round(duration_ms)} ms`);
  proof('the tests passed on exactly these files before the publish');
}

/** Binds a publish to the shown snapshot. */
function reviewed(snapshot: string | null): { snapshot: string } {
  expect(snapshot !== null, 'a snapshot');
  return { snapshot };
}

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Error(name)));
const late = AbortSignal.timeout(maxMs);
const started = performance.now();
try {
  await demo({ keep: process.argv.includes('--keep'), signal: AbortSignal.any([interrupted.signal, late]) });
  say(`${((performance.now() - started) / 1000).toFixed(1)} s`);
} catch (error) {
  const text = late.aborted
    ? `not finished within ${maxMs / 1000} s`
    : error instanceof Error
      ? error.message
      : String(error);
  process.stderr.write(`\ndemo failed: ${text}\n`);
  process.exitCode = 1;
}
