import { isDotGit } from '@holdpoint/sandbox/testing';
import { fromPlain, isDotGit as isDotGitInBytes } from '@holdpoint/workspace/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closedIfRoot, form } from './host/index.ts';
import { at, openRepositoryScene, type RepositoryScene } from './host/repository-scene.ts';

const spellings = [
  ...['.git', '.GIT', '.Git', 'git~1', 'GIT~1', '.git.', '.git ', '.git. .', '.git::$INDEX_ALLOCATION', '.git:x'],
  ...['.g\u200dit', '\ufeff.git', '.git\u200c', '.git\\hooks', 'git~1::$DATA'],
];

test('the tool host and snapshots agree on names of repositories', () => {
  const others = [
    '.gitignore',
    '.gitattributes',
    '.github',
    'git',
    'x.git',
    '.git2',
    'git~2',
    '.gitmodules',
    '.hg',
    'é.git',
  ];
  for (const name of [...spellings, ...others]) {
    expect([name, isDotGit(name)]).toEqual([name, isDotGitInBytes(fromPlain(name))]);
  }
  expect(spellings.filter((name) => !isDotGit(name))).toEqual([]);
  expect(others.filter(isDotGit)).toEqual([]);
});

const evil = 'touch /workspace/EVIL';

/** Attempts to make git run a program later, or read another configuration. */
const plants: readonly (readonly [name: string, line: string])[] = [
  ['fsmonitor in the configuration', `printf '[core]\\nfsmonitor = "${evil}"\\n' >> .git/config`],
  ['git config', `git config core.fsmonitor '${evil}'`],
  ['a configuration moved over', `printf '[core]\\nfsmonitor = "${evil}"\\n' > c; mv c .git/config`],
  ['a configuration linked over', `echo '[alias]' > c; ln -f c .git/config; ln -sf ../c .git/config`],
  ['the configuration removed', `rm -f .git/config; cp c .git/config`],
  ['a configuration of the work tree', `printf '[core]\\nfsmonitor = "${evil}"\\n' > .git/config.worktree`],
  [
    'another common folder',
    `git init -q other; printf '[core]\\nfsmonitor = "${evil}"\\n' >> other/.git/config; echo ../other/.git > .git/commondir; cp .git/HEAD .git/x; mv .git/x .git/commondir`,
  ],
  [
    'the repository moved away',
    `mv .git old && cp -r old .git && printf '[core]\\nfsmonitor = "${evil}"\\n' >> .git/config`,
  ],
  ['the repository removed', `rm -rf .git`],
  [
    'a file in place of the repository',
    `git init -q other2; printf '[core]\\nfsmonitor = "${evil}"\\n' >> other2/.git/config; echo gitdir: other2/.git > f; mv -T f .git`,
  ],
  [
    'hooks',
    `for h in pre-commit post-checkout post-index-change reference-transaction post-commit; do printf '#!/bin/sh\\n${evil}\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done`,
  ],
  ['the hooks moved', `mv .git/hooks .git/h; mkdir .git/hooks`],
  ['attributes', `echo '* filter=evil diff=evil' > .git/info/attributes; mkdir i; mv -T i .git/info`],
  [
    'a configuration at home',
    `printf '[core]\\nfsmonitor = "${evil}"\\n' > ~/.gitconfig; mkdir -p ~/.config/git; cp ~/.gitconfig ~/.config/git/config`,
  ],
  [
    'a bare repository of plain files',
    `mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/main' > bare/HEAD; printf '[core]\\nbare = true\\nfsmonitor = "${evil}"\\n[alias]\\nst = !${evil}\\n' > bare/config; cp bare/* . 2>/dev/null; mkdir -p objects refs`,
  ],
  ['attributes of the tree', `echo '* filter=evil diff=evil merge=evil' > .gitattributes`],
  ['objects of another place', `mkdir -p alt/pack; echo /workspace/alt > .git/objects/info/alternates`],
];

/** Ordinary commands that must work. */
const harmless = [
  'git status',
  'git diff',
  'git log -p -1',
  'git add -A && git commit -qm x',
  'git stash -u; git stash pop',
  'git checkout -q -b topic && git checkout -q -',
  'git blame src/b.txt',
];

const chosen = form === 'full' ? closedIfRoot : closedIfRoot.slice(-1);

describe.each(chosen)('the repository of a workspace, worker run by $name', (user) => {
  let all: RepositoryScene;
  beforeAll(async () => {
    all = await openRepositoryScene(user);
  }, 60_000);
  afterAll(() => all[Symbol.asyncDispose]());

  test('git works inside: status, commit, stash, branch, restore', async () => {
    const run = await all.open('run_works', { 'a.txt': 'one\n', '.gitignore': 'a.txt\n', 'd/b.sh': 'echo b\n' });
    expect(await run.run('git status --porcelain --ignored; git log --format=%an:%s')).toBe(
      'Holdpoint:Base of the run\n',
    );
    expect(await run.run('git ls-files')).toBe('.gitignore\na.txt\nd/b.sh\n');
    await run.run('git fsck --strict 2>&1 | grep -v -e dangling -e "^notice" | grep . && exit 1 || exit 0');
    await run.run(
      'echo two >> a.txt; git add a.txt; git commit -qm two; echo three >> a.txt; git stash -q; git stash pop -q',
    );
    expect(await run.run('git status --porcelain; git log --format=%s')).toBe(' M a.txt\ntwo\nBase of the run\n');
    await run.run(
      'git checkout -q -b topic; git commit -qam three; git checkout -q main; git merge -q topic; git tag t',
    );
    await run.run(
      'git rebase -q HEAD~1; git reset -q --hard HEAD~1; git cherry-pick topic; git gc -q; git pack-refs --all',
    );
    expect(
      await run.run('git blame -s a.txt | cut -c1-4 | uniq | wc -l; cd d && git log --oneline -- b.sh | wc -l'),
    ).toBe('3\n1\n');
  });

  test('file tools write no repository, in any spelling and at any depth', async () => {
    const run = await all.open('run_tools');
    await run.run(
      'ln -s .git link; ln -s .git/config file-link; mkdir a; ln -s ../.git a/up; git init -q sub; ln -s sub/.git nested',
    );
    const paths = [
      ...spellings.map((name) => `${name}/config`),
      ...spellings.map((name) => `src/${name}`),
      ...[
        '.git/HEAD',
        '.git/new/x',
        'sub/.git/config',
        'sub/.git/hooks/pre-commit',
        '/workspace/.git/config',
        './.git/HEAD',
      ],
      ...[
        'link/config',
        'file-link',
        'a/up/HEAD',
        'a/../.git/HEAD',
        'nested/config',
        'link/new',
        'new/.git',
        'src/../.git',
      ],
    ];
    for (const path of paths) {
      await expect(run.write(path, '[core]\n'), path).rejects.toMatchObject({ code: 'EREPOSITORY' });
    }
    expect(await run.run('git status --porcelain')).toBe('?? a/\n?? file-link\n?? link\n?? nested\n?? sub/\n');
  });

  test.each(plants)('git runs no program that an earlier command planted: %s', async (name, line) => {
    const run = await all.open(`run_plant_${plants.findIndex(([one]) => one === name)}`);
    await run.attempt(line);
    for (const command of harmless) await run.attempt(command);
    expect(await run.run('ls; git config --get alias.st; git config core.fsmonitor')).not.toContain('EVIL');
    // A command may have destroyed the repository.
    expect(await run.attempt('git rev-parse --git-common-dir')).toMatch(/^\/workspace\/\.git$|not a git repository/m);
  });

  test('fixed files can be neither moved nor replaced', async () => {
    const run = await all.open('run_fixed');
    const names = ['.git', '.git/config', '.git/commondir', '.git/hooks', '.git/info'];
    const script = [
      "const { renameSync: move, mkdirSync, writeFileSync, statSync } = require('node:fs');",
      "mkdirSync('d'); writeFileSync('f', '');",
      'const output = (act) => { try { act(); return "done"; } catch (error) { return error.code; } };',
      'for (const name of process.argv.slice(1)) {',
      "  const other = statSync(name).isDirectory() ? 'd' : 'f';",
      '  console.log(output(() => move(name, name + "-moved")), output(() => move(other, name)));',
      '}',
    ].join(' ');
    const answers = await run.run(`node -e '${script.replaceAll("'", `'"'"'`)}' ${names.join(' ')}`);
    expect(answers).toMatch(/^((EBUSY|EXDEV) (EBUSY|EXDEV)\n){5}$/);
    for (const name of names.slice(1)) {
      const written = `bash -c 'echo x >> ${name}'; bash -c 'echo x > ${name}/new'; rm -rf ${name}`;
      expect(await run.attempt(written)).toMatch(/Read-only file system|Device or resource busy/);
    }
    expect(await run.run('cat .git/commondir; git status --porcelain -- a.txt src')).toBe('.\n');
  });

  test('git reads change no snapshot, git writes do', async () => {
    const run = await all.open('run_digest');
    let last = run.base;
    const step = async (line: string) => {
      await run.run(line);
      const { id } = await run.snapshot(last);
      const before = last;
      last = id;
      return id === before ? 'same' : 'other';
    };
    for (const line of ['true', 'git status', 'git diff; git log; git blame a.txt', 'touch a.txt; git status']) {
      expect([line, await step(line)]).toEqual([line, 'same']);
    }
    const changes = [
      ...['echo x >> a.txt', 'git add a.txt', 'git commit -qm x', 'git tag t', 'git branch b', 'git checkout -q b'],
      ...['git stash list; echo y >> a.txt; git stash -q', 'git update-index --assume-unchanged a.txt'],
      ...['mkdir -p .git/rebase-merge; echo "exec touch EVIL" > .git/rebase-merge/git-rebase-todo'],
      ...['git replace --graft HEAD', 'git pack-refs --all', 'git gc -q', 'echo z | git hash-object -w --stdin'],
      ...[
        'mkdir -p .git/modules/x; echo > .git/modules/x/config',
        'mkfifo .git/pipe',
        'mkdir .git/empty',
        'ln -s x .git/link',
      ],
      ...['git init -q sub', 'git -C sub config core.fsmonitor false', 'mkdir m; echo gitdir: ../sub/.git > m/.git'],
      ...[
        'chmod +x m/.git',
        'mkdir -p .GIT; echo x > .GIT/config',
        'mkdir -p src/git~1; echo x > src/git~1/config',
        'mkdir .git/.git; echo x > .git/.git/config',
      ],
      ...['rm m/.git', 'rm -rf sub/.git .GIT'],
    ];
    for (const line of changes) expect([line, await step(line)]).toEqual([line, 'other']);
    expect(await step('git status')).toBe('same');
  });

  test('undo, take-over and fork restore the state of git', async () => {
    const run = await all.open('run_back');
    await run.run(
      'echo two >> a.txt; git commit -qam two; echo three > c.txt; git add c.txt; git init -q sub; echo s > sub/s; git -C sub add s; git -C sub commit -qm s',
    );
    const kept = await run.snapshot();
    const look = 'git log --format=%s; git status --porcelain; git -C sub log --format=%s';
    const before = await run.run(look);
    expect(before).toBe('two\nBase of the run\nA  c.txt\n?? sub/\ns\n');
    await run.run('git reset -q --hard HEAD~1; rm -rf sub; git checkout -q -b other');
    const { workspaces } = all;
    await workspaces.restore({ runId: 'run_back', epoch: 1, snapshot: kept.id });
    expect(await run.run(look)).toBe(before);
    await all.scene.worker.killAll('run_back');
    await workspaces.takeOver({ runId: 'run_back', epoch: 2, snapshot: kept.id });
    const grown = await at(all, { runId: 'run_back', epoch: 2, base: run.base });
    expect(await grown.run(look)).toBe(before);
    await workspaces.fork({ runId: 'run_fork', from: { runId: 'run_back', snapshot: kept.id } });
    const forked = await at(all, { runId: 'run_fork', epoch: 1, base: run.base });
    expect(await forked.run(look)).toBe(before);
    expect(await forked.run('git fsck 2>&1 | grep -i -e missing -e broken || echo whole')).toBe('whole\n');
    expect((await grown.snapshot(kept.id)).id).toBe(kept.id);
    const diff = await workspaces.diff({ runId: 'run_back', from: run.base, to: kept.id });
    expect(diff.files.map(({ path }) => path).filter((path) => path.includes('.git'))).toEqual([]);
    expect(diff.left_out.map(({ path, reason }) => [path, reason])).toEqual([
      ['.git/', 'repository'],
      ['sub/.git/', 'repository'],
    ]);
    const archive = await workspaces.files({ runId: 'run_back', snapshot: kept.id });
    expect(archive.map(({ path }) => path)).toEqual(['a.txt', 'c.txt', 'src/b.txt', 'sub/s']);
  });

  test('a submodule of a command runs no program for commands at the top', async () => {
    const run = await all.open('run_gitlink');
    await run.run(
      [
        'git init -q sub; echo s > sub/s; git -C sub add s; git -C sub commit -qm s; git add sub 2>/dev/null',
        `git -C sub config filter.evil.clean '${evil}; cat'; git -C sub config core.fsmonitor '${evil}'`,
        `printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tignore = none\\n' > .gitmodules`,
        `echo '* filter=evil' > sub/.gitattributes; echo changed > sub/s; rm -f EVIL`,
      ].join('; '),
    );
    for (const line of [
      'git status',
      'git diff',
      'git diff --submodule=log',
      'git add -A',
      'git commit -qam x',
      'git stash',
    ]) {
      await run.attempt(line);
      expect([line, await run.run('ls')]).toEqual([line, expect.not.stringContaining('EVIL')]);
    }
  });
});
