import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DecisionCase, DecisionResult } from './host/decision-process.ts';
import { inForm } from './host/form.ts';
import { removeTree } from './host/remove-tree.ts';
import { startAs, systemPath, type User, users } from './host/users.ts';

// A user decides on files that were shown. A background command then changes them in every possible way. The worker must notice each change.

const evil = 'printf "echo EVIL\\n"';
const mapped = (before: string) => `python3 -c '
import mmap, os, time
def put(path, size, at, text):
    f = os.open(path, os.O_RDWR); m = mmap.mmap(f, size); os.close(f)
    m[0] = m[0]; maps.append((m, at, text))
maps = []
${before}
open("ready", "w").close()
while not os.path.exists("go"): time.sleep(0.02)
for m, at, text in maps: m[at:at + len(text)] = text
os.remove("go")
time.sleep(1000)'`;

const cases: (DecisionCase & { bounded?: boolean; changed?: string })[] = [
  {
    name: 'a write with the old size and times',
    first: 'touch -r deploy.sh t',
    after: `${evil} > deploy.sh; touch -r t deploy.sh`,
    bounded: true,
  },
  {
    name: 'a rename over it with the old times',
    first: 'touch -r deploy.sh t',
    after: `${evil} > x; touch -r t x; mv x deploy.sh`,
  },
  { name: 'a hard link in its place', first: `${evil} > x`, after: 'ln -f x deploy.sh' },
  { name: 'a link in its place', first: `${evil} > x`, after: 'ln -sf x deploy.sh' },
  { name: 'another target of a link', first: `${evil} > x; ln -s deploy.sh l`, after: 'ln -sfn x l', changed: 'l' },
  { name: 'a folder in its place', first: 'true', after: `rm deploy.sh; mkdir deploy.sh; ${evil} > deploy.sh/x` },
  {
    name: 'a swap of two folders',
    first: 'cp -r dir other; echo EVIL > other/inner',
    after: 'mv dir d; mv other dir; mv d other',
    changed: 'dir/inner',
  },
  {
    name: 'a file that its owner may not read',
    first: 'true',
    after: `${evil} > deploy.sh; chmod 0 deploy.sh`,
    bounded: true,
  },
  {
    name: 'a file in an unreadable folder',
    first: 'chmod 0 dir',
    after: 'chmod 700 dir; echo EVIL > dir/inner; chmod 0 dir',
    changed: 'dir/inner',
  },
  {
    name: 'a file in a folder that may only be entered',
    first: 'chmod 100 dir',
    after: 'echo EVIL > dir/inner',
    changed: 'dir/inner',
  },
  { name: 'its mode', first: 'true', after: 'chmod +x deploy.sh' },
  { name: 'a pipe in its place', first: 'true', after: 'rm deploy.sh; mkfifo deploy.sh', bounded: true },
  { name: 'a file that became too large', first: 'true', after: 'head -c 200000 /dev/zero > deploy.sh' },
  {
    name: 'a file that was too large, with the old size and times',
    first: 'head -c 200000 /dev/zero > deploy.sh; touch -r deploy.sh t',
    after: 'printf E | dd of=deploy.sh conv=notrunc 2> /dev/null; touch -r t deploy.sh',
    bounded: true,
  },
  {
    name: 'a file below folders that are nested too deep, with the old times',
    first: 'mkdir -p $(printf "d/%.0s" $(seq 203)); f=$(printf "d/%.0s" $(seq 203))x; echo SAFE > $f; touch -r $f t',
    after: 'f=$(printf "d/%.0s" $(seq 203))x; echo EVIL > $f; touch -r t $f',
    changed: 'd/',
  },
  {
    name: 'a mapping that is dirty already',
    first: '',
    after: mapped('put("deploy.sh", 10, 5, b"EVIL")'),
    bounded: true,
  },
  {
    name: 'a dirty mapping of a file that was removed and linked again',
    first: '',
    after: mapped(
      'os.link("deploy.sh", "x"); put("x", 10, 5, b"EVIL"); os.remove("deploy.sh"); os.rename("x", "deploy.sh")',
    ),
  },
  {
    name: 'a dirty mapping of a file that is too large',
    first: '',
    after: mapped('open("deploy.sh", "wb").write(bytes(200000)); put("deploy.sh", 200000, 5, b"EVIL")'),
  },
  {
    name: 'a ref of the repository',
    first: 'true',
    after: 'git update-ref refs/heads/evil HEAD',
    bounded: true,
    changed: '.git/',
  },
  { name: 'the branch of HEAD', first: 'true', after: 'git symbolic-ref HEAD refs/heads/evil', changed: '.git/HEAD' },
  { name: 'the index alone', first: 'git add dir', after: 'git read-tree --empty', changed: '.git/index' },
  { name: 'a nested repository', first: 'true', after: 'git init -q sub', changed: 'sub/.git' },
  {
    name: 'the configuration of a nested repository, with the old times',
    first: 'git init -q sub; touch -r sub/.git/config t',
    after: 'git -C sub config alias.st "!echo EVIL"; touch -r t sub/.git/config',
    bounded: true,
    changed: 'sub/.git/config',
  },
  {
    name: 'a hook of a nested repository',
    first: 'git init -q sub',
    after: 'mkdir -p sub/.git/hooks; echo EVIL > sub/.git/hooks/post-checkout',
    changed: 'sub/.git/hooks/',
  },
  {
    name: 'writers that never stop',
    first: 'true',
    after: `for i in 1 2 3 4; do (while :; do echo $RANDOM > deploy.sh; done) & done; sleep 0.1`,
  },
  {
    name: 'a program that catches every signal and forks without end',
    first: 'true',
    after: `bash -c 'trap "" TERM INT HUP CONT TSTP; f() { echo $BASHPID > deploy.sh; [ $(ls /proc | grep -c "^[0-9]") -lt 60 ] && f & }; while :; do f; wait -n; done' & sleep 0.1`,
  },
];

async function decideAs(user: User, all: readonly DecisionCase[]): Promise<DecisionResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-decided-'));
  chmodSync(directory, 0o711);
  chownSync(directory, user.uid, user.gid);
  try {
    const child = startAs(user, 'tests/hostile/host/decision-process.ts', [directory, JSON.stringify(all)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { PATH: systemPath, HOME: directory },
    });
    const exit = once(child, 'exit');
    let results: DecisionResult[] = [];
    child.on('message', (message) => {
      results = message as DecisionResult[];
    });
    expect(await exit).toEqual([0, null]);
    return results;
  } finally {
    removeTree(directory);
  }
}

describe.each(users)('between a decision and its call, as $name,', (user) => {
  test('every change of the files is noticed, and none happens during the call', async () => {
    const all = inForm(cases);
    const results = await decideAs(
      user,
      all.map(({ name, first, after }) => ({ name, first, after })),
    );
    expect(results.map(({ name, noticed, isStable, versions }) => ({ name, noticed, isStable, versions }))).toEqual(
      all.map(({ name }) => ({ name, noticed: true, isStable: true, versions: 1 })),
    );
    for (const [at, { changed = 'deploy.sh' }] of all.entries()) {
      expect(
        results[at]?.changes.some(({ path }) => path.startsWith(changed)),
        all[at]?.name,
      ).toBe(true);
    }
  }, 600_000);
});
