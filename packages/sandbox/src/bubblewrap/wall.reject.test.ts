import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isRoot, useTestHost } from '../testing/host.ts';
import type { WorkspaceMount } from '../tree.ts';

/*
 * Lines that a judge of command lines could take for reading ones, run as such: whatever they do, no program but those that were named starts,
 * and no byte of the tree changes. Each line does run something else, or write, where there is no wall.
 */

const { host, test } = useTestHost();
const judged = ['cat', 'git', 'ls'];
const loader = '/lib64/ld-linux-x86-64.so.2';
const P = '$(rm keep)';

/** Lines that a parser has read in part. */
const misread: readonly string[] = [
  `cat <<E\n\${x-'${P}'}\nE`,
  `ls "\${y-$'${P}'}"`,
  `cat <(ls)#${P}`,
  `a=("${P}")b`,
  `a=(${P})b`,
  `coproc { rm keep; }; wait`,
  `printf -v 'a[${P}]' x`,
  `test -v 'a[${P}]'`,
  `[ -v 'a[${P}]' ]`,
  `printf -v PATH /workspace; evil STARTED`,
  `eval 'rm keep'`,
  `trap 'rm keep' EXIT`,
];
const started: readonly string[] = [
  './evil STARTED',
  '/workspace/evil STARTED',
  'exec ./evil STARTED',
  'PATH=/workspace:$PATH evil STARTED',
  `${loader} ./evil STARTED`,
  `cat evil >/tmp/e; ${loader} /tmp/e STARTED`,
  `cat evil >/dev/shm/e; ${loader} /dev/shm/e STARTED`,
  `${loader} /usr/bin/touch new`,
  `bash -c 'touch new'`,
  '/proc/self/exe -c "touch new"',
  'sh -c "touch new"',
  `python3 -c 'print("START" + "ED")'`,
  `perl -e 'print "START" . "ED"'`,
  `awk 'BEGIN { print "START" "ED" }'`,
  `/opt/holdpoint/node/bin/node -p '"START" + "ED"'`,
  '/usr/lib/git-core/git-sh-i18n--envsubst --help; touch new',
  `git -c alias.x='!touch new' x`,
  'git --exec-path=/workspace evil STARTED',
  'GIT_EXTERNAL_DIFF=/workspace/mark.sh git diff',
  'git -c diff.external=/workspace/mark.sh diff --ext-diff',
  'git -c core.fsmonitor=/workspace/mark.sh status',
  'git -c diff.x.textconv=/workspace/mark.sh diff --textconv',
  'git -C nested -c safe.bareRepository=all x',
  'git grep -O/workspace/mark.sh kept',
  'GIT_PAGER=/workspace/mark.sh git grep -O kept',
];
/** A library of the tree, as a builtin of the shell and below a program. */
const loaded: readonly string[] = hasCompiler()
  ? [
      'enable -f ./evil.so evil',
      'enable -f /workspace/evil.so evil; builtin evil',
      'cat evil.so >/tmp/e.so; enable -f /tmp/e.so evil',
      'LD_PRELOAD=/workspace/evil.so cat keep',
      'LD_PRELOAD=./evil.so git status',
    ]
  : [];
const written: readonly string[] = [
  '>keep',
  'echo more >>keep',
  ': <>new',
  'exec 3<>new',
  'cat >new <<<x',
  'ln keep new',
  'cp keep new',
  'mv keep new',
  'git add -A && git commit -qm x',
  'git checkout -qf HEAD -- keep',
  'git init -q other',
  'git config user.name x',
  'git update-ref refs/heads/x HEAD',
];
const all = [...misread, ...started, ...loaded, ...written];

function hasCompiler(): boolean {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A library that prints when it is loaded. */
function makeLibrary(target: string): void {
  const source = `${target}.c`;
  writeFileSync(
    source,
    '#include <unistd.h>\n__attribute__((constructor)) static void start() { write(1, "STARTED\\n", 8); }\n',
  );
  execFileSync('cc', ['-shared', '-fPIC', '-o', target, source], { stdio: 'ignore' });
  rmSync(source);
}

/** A repository with a program, a script that leaves a mark, and attributes that ask for programs. */
function makeTree(workspace: WorkspaceMount): void {
  const { path, uid, gid } = workspace;
  const user = isRoot ? { uid, gid } : {};
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], {
      ...{ cwd: path, stdio: 'pipe', ...user },
      env: { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    });
  const file = (name: string, text: string, mode = 0o644) => {
    writeFileSync(join(path, name), text, { mode });
    chmodSync(join(path, name), mode);
    if (isRoot) chownSync(join(path, name), uid, gid);
  };
  file('keep', 'kept\n');
  file('changed', 'before\n');
  file('.gitattributes', 'changed diff=x\n');
  file('mark.sh', '#!/bin/bash\necho STARTED >/workspace/new\necho STARTED\n', 0o755);
  copyFileSync('/bin/echo', join(path, 'evil'));
  if (isRoot) chownSync(join(path, 'evil'), uid, gid);
  cpSync(join(path, 'evil'), join(path, 'git-evil'));
  if (isRoot) chownSync(join(path, 'git-evil'), uid, gid);
  if (loaded.length > 0) {
    makeLibrary(join(path, 'evil.so'));
    if (isRoot) chownSync(join(path, 'evil.so'), uid, gid);
  }
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  file('changed', 'after\n');
  mkdirSync(join(path, 'nested'));
  if (isRoot) chownSync(join(path, 'nested'), uid, gid);
  git('-C', 'nested', 'init', '-q');
  git('-C', 'nested', 'config', 'alias.x', '!touch /workspace/new');
}

/** Names, types, sizes, times and contents. */
const stateOf = ({ path }: WorkspaceMount): string =>
  execFileSync(
    'bash',
    [
      '-c',
      `find . -printf '%P %y %m %s %n %T@\\n' | sort; find . -type f -print0 | sort -z | xargs -0 cat | sha256sum`,
    ],
    {
      ...{ cwd: path, encoding: 'utf8' },
    },
  );

const run = (workspace: WorkspaceMount, line: string, only?: readonly string[]) =>
  host.run(workspace, line, { only, limits: { wall_ms: 60_000 } });

test('the sandbox has a wall here', () => {
  expect(host.sandbox.walls).toBe(true);
});

test('no line that is held to reading starts another program or changes a byte', async ({ workspace }) => {
  makeTree(workspace);
  const before = stateOf(workspace);
  for (const line of all) {
    const { stdout, stderr } = await run(workspace, line, judged);
    expect([line, stdout.text.includes('STARTED'), stderr.text.includes('STARTED')]).toEqual([line, false, false]);
    expect([line, stateOf(workspace)]).toEqual([line, before]);
  }
}, 600_000);

test.runIf(isRoot)('so it is below a folder that the owner of the tree cannot pass', async () => {
  const closed = join(host.directory, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  const open = host.makeWorkspace();
  makeTree(open);
  const workspace = { ...open, path: join(closed, 'tree') };
  renameSync(open.path, workspace.path);
  const before = stateOf(workspace);
  // The first ones start through a remap, later ones in its view.
  for (let time = 0; time < 6; time++) {
    for (const line of ['rm keep; ./evil STARTED', `cat evil >/tmp/e; ${loader} /tmp/e STARTED`, '>keep']) {
      const { stdout } = await run(workspace, line, judged);
      expect([line, stdout.text.includes('STARTED'), stateOf(workspace)]).toEqual([line, false, before]);
    }
  }
});

test('each of these lines does something where there is no wall', async () => {
  const harmless: string[] = [];
  for (const line of all) {
    const workspace = host.makeWorkspace();
    makeTree(workspace);
    const before = stateOf(workspace);
    const { stdout } = await run(workspace, line);
    if (stateOf(workspace) === before && !stdout.text.includes('STARTED')) harmless.push(line);
  }
  expect(harmless).toEqual([]);
}, 600_000);

test('the named programs read, and see what others do', async ({ workspace }) => {
  makeTree(workspace);
  const line =
    'cat keep | while read -r word; do echo "$word"; done; ls; git log --format=%s; git status -s; cat <<<here; echo x >/tmp/x && cat /tmp/x';
  const walled = await run(workspace, line, judged);
  const open = await run(workspace, line);
  expect(walled.stdout.text).toBe(open.stdout.text);
  expect([walled.stderr.text, walled.end]).toEqual(['', { status: 'exited', exit_code: 0, signal: null }]);
});

test('beside the named programs nothing that can start is in sight', async ({ workspace }) => {
  const line = String.raw`
    shopt -s globstar nullglob dotglob
    for path in /usr/** /opt/** /etc/** /workspace/** /tmp/** /dev/**; do
      [[ -f $path && -x $path && $path != *.so && $path != *.so.* ]] || continue
      IFS= read -r -N 4 first <"$path" 2>/dev/null
      [[ $first == $'\x7fELF' ]] && echo "$path"
    done; true`;
  const { stdout } = await run(workspace, line, ['cat']);
  const found = stdout.text.trim().split('\n').sort();
  expect([...new Set(found.map((path) => path.replace(/^.*\//, '')))]).toEqual(['bash', 'cat', 'sh']);
});

test('no mount but those of the system can start a program, and only memory is writable', async ({ workspace }) => {
  const { stdout } = await run(workspace, 'cat /proc/self/mountinfo', ['cat']);
  const mounts = stdout.text
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const open = mounts.filter(
    ([, , , , path = '', flags = '']) => !/^\/(?:$|usr)/.test(path) && !flags.includes('noexec'),
  );
  expect(open).toEqual([]);
  const writable = mounts.filter(([, , , , , flags = '']) => flags.startsWith('rw')).map(([, , , , path = '']) => path);
  expect(writable.filter((path) => !path.startsWith('/dev/')).sort()).toEqual(['/tmp']);
});

test('many held to reading run beside each other and beside a writer', async ({ workspace }) => {
  writeFileSync(join(workspace.path, 'keep'), 'kept\n', { mode: 0o644 });
  const writing = host.run(workspace, 'for i in {1..50}; do echo $i >>log; done; sleep 1');
  const reads = await Promise.all(Array.from({ length: 8 }, () => run(workspace, 'cat keep; rm keep', ['cat'])));
  await writing;
  expect(new Set(reads.map(({ stdout }) => stdout.text))).toEqual(new Set(['kept\n']));
  expect(readdirSync(workspace.path).sort()).toEqual(['keep', 'log']);
});
