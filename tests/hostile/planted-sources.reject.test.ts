import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { form, makeDirectory, runProgram, users } from './host/index.ts';
import { picture } from './host/outside.ts';
import { plantHome } from './host/plants.ts';

interface Outcome {
  status: string;
  reason: string | null;
  changed: string[];
  patched: boolean;
  finish: string;
  treeLeft: boolean;
}
type Report = Record<string, Outcome> & {
  deep: { status: string; reason: string | null };
  deepLeft: boolean;
  workerLives: boolean;
};

/** One user in the bounded form: each starts a whole system and takes some seconds. */
const chosen = form === 'full' ? users : users.slice(-1);

describe.each(chosen)('traps in sources and trees, with the whole system run by $name', (user) => {
  let directory: string;
  let fired: string;
  let report: Report;
  let hooksBefore: Record<string, string>;
  beforeAll(async () => {
    directory = makeDirectory(user);
    fired = join(directory, 'fired');
    const home = join(directory, 'home');
    for (const path of [fired, home]) {
      mkdirSync(path);
      chmodSync(path, path === fired ? 0o777 : 0o755);
    }
    plantHome(home, (name) => `touch ${join(fired, name)}`);
    chownSync(home, user.uid, user.gid);
    report = await runProgram(user, 'planted-process.ts', [directory, fired], { HOME: home });
    hooksBefore = picture(join(directory, 'repository/.git/hooks'));
  }, 120_000);
  afterAll(() => execFileSync('rm', ['-rf', directory]));

  test('no trap runs on the host, from the copy to publish and discard', () => expect(readdirSync(fired)).toEqual([]));

  test.each(['git published', 'git discarded', 'directory published', 'directory discarded'])(
    '%s: the work was done',
    (name) => {
      const outcome = report[name];
      expect(outcome).toMatchObject({ status: 'succeeded', reason: null, patched: true });
      expect(outcome?.changed).toEqual(expect.arrayContaining(['.envrc', 'src/a.txt']));
      expect(outcome?.changed.filter((path) => /(^|\/)\.git(\/|$)/.test(path))).toEqual([]);
      expect(outcome?.finish).toBe(name.endsWith('published') ? 'published' : 'discarded');
    },
  );

  test("no file of an agent's repositories reaches the user's repository", () => {
    const hooks = spawnSync('grep', [
      '-rl',
      'agent-',
      join(directory, 'repository/.git'),
      join(directory, 'folder/.git'),
    ]);
    const found = String(hooks.stdout)
      .split('\n')
      .filter((path) => path !== '' && !path.includes('/objects/'));
    expect(found).toEqual([]);
    expect(picture(join(directory, 'repository/.git/hooks'))).toEqual(hooksBefore);
  });

  test('a tree that is too deep for the host gives an error and can be discarded', () => {
    expect(report.workerLives).toBe(true);
    expect(['succeeded', 'failed']).toContain(report.deep.status);
    expect(report.deepLeft).toBe(false);
  });

  test('the traps are real: plain git and a shell run them', () => {
    const copy = join(directory, 'copy');
    cpSync(join(directory, 'repository'), copy, { recursive: true });
    const identity = process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : {};
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
    const env = { PATH: process.env.PATH ?? '', HOME: copy };
    for (const line of ['git add -A', 'git diff', 'git checkout -q -b other', 'bash -i -c true', 'npm test --silent']) {
      spawnSync('/bin/bash', ['-c', line], { cwd: copy, env, ...identity, timeout: 20_000, stdio: 'ignore' });
    }
    expect(readdirSync(fired)).toEqual(expect.arrayContaining(['fsmonitor', 'hook-post-checkout', 'script']));
  });
});
