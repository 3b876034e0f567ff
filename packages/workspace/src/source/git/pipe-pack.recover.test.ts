import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createGit, pipeInput } from '../../host-git/git.ts';
import { git, initRepository } from '../../testing/real-git.ts';
import { pipePack } from './take-commit.ts';

function repositories() {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-pipe-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const from = join(path, 'from');
  git(path, 'init', '-q', from);
  writeFileSync(join(from, 'a'), 'a\n');
  const commit = initRepository(from);
  const to = join(path, 'to.git');
  git(path, 'init', '-q', '--bare', to);
  return { path, from: join(from, '.git'), to, commit };
}

/** index-pack needs none of the bytes behind a pack. More of them than a pipe holds are left when it has exited. */
const behind = 8 * 1024 * 1024;

test('objects arrive although the pack has bytes behind its end', { timeout: 20_000 }, async () => {
  const { path, from, to, commit } = repositories();
  const gitPath = join(path, 'git');
  const script = `#!/bin/bash\nPATH=\${PATH#*:}\ngit "$@" || exit\n[[ "$*" != *pack-objects* ]] || head -c ${behind} /dev/zero 2> /dev/null || true\n`;
  writeFileSync(gitPath, script, { mode: 0o755 });
  await pipePack(createGit({ gitPath }), {
    pack: { args: [`--git-dir=${from}`, 'pack-objects', '--revs', '--stdout', '-q'] },
    index: { args: [`--git-dir=${to}`, 'index-pack', '--stdin'] },
    revs: `${commit}\n`,
  });
  expect(git(to, 'cat-file', '-t', commit)).toBe('commit');
});

test('a stream ends although the program reads none of it', { timeout: 20_000 }, async () => {
  const { to } = repositories();
  const program = createGit({}).stream([`--git-dir=${to}`, 'rev-parse', '--git-dir']);
  program.stdout.resume();
  const input = Readable.from([Buffer.alloc(behind / 2), Buffer.alloc(behind / 2)]);
  pipeInput(input, program.stdin);
  await Promise.all([program.done, finished(input)]);
});
