import { describe, expect, test } from 'vitest';
import type { DecisionCase, DecisionResult } from './host/decision-process.ts';
import {
  type Cases,
  inForm,
  makeDirectory,
  removeTree,
  runProgram,
  systemPath,
  type User,
  users,
} from './host/index.ts';

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

const cases: Cases<[name: string, first: string, after: string, changed?: string]> = {
  bounded: [
    ['a write with the old size and times', 'touch -r deploy.sh t', `${evil} > deploy.sh; touch -r t deploy.sh`],
    ['a file that its owner may not read', 'true', `${evil} > deploy.sh; chmod 0 deploy.sh`],
    ['a pipe in its place', 'true', 'rm deploy.sh; mkfifo deploy.sh'],
    [
      'a file that was too large, with the old size and times',
      'head -c 200000 /dev/zero > deploy.sh; touch -r deploy.sh t',
      'printf E | dd of=deploy.sh conv=notrunc 2> /dev/null; touch -r t deploy.sh',
    ],
    ['a mapping that is dirty already', '', mapped('put("deploy.sh", 10, 5, b"EVIL")')],
    ['a ref of the repository', 'true', 'git update-ref refs/heads/evil HEAD', '.git/'],
    [
      'the configuration of a nested repository, with the old times',
      'git init -q sub; touch -r sub/.git/config t',
      'git -C sub config alias.st "!echo EVIL"; touch -r t sub/.git/config',
      'sub/.git/config',
    ],
  ],
  full: [
    ['a rename over it with the old times', 'touch -r deploy.sh t', `${evil} > x; touch -r t x; mv x deploy.sh`],
    ['a hard link in its place', `${evil} > x`, 'ln -f x deploy.sh'],
    ['a link in its place', `${evil} > x`, 'ln -sf x deploy.sh'],
    ['another target of a link', `${evil} > x; ln -s deploy.sh l`, 'ln -sfn x l', 'l'],
    ['a folder in its place', 'true', `rm deploy.sh; mkdir deploy.sh; ${evil} > deploy.sh/x`],
    [
      'a swap of two folders',
      'cp -r dir other; echo EVIL > other/inner',
      'mv dir d; mv other dir; mv d other',
      'dir/inner',
    ],
    ['a file in an unreadable folder', 'chmod 0 dir', 'chmod 700 dir; echo EVIL > dir/inner; chmod 0 dir', 'dir/inner'],
    ['a file in a folder that may only be entered', 'chmod 100 dir', 'echo EVIL > dir/inner', 'dir/inner'],
    ['its mode', 'true', 'chmod +x deploy.sh'],
    ['a file that became too large', 'true', 'head -c 200000 /dev/zero > deploy.sh'],
    [
      'a file below folders that are nested too deep, with the old times',
      'mkdir -p $(printf "d/%.0s" $(seq 203)); f=$(printf "d/%.0s" $(seq 203))x; echo SAFE > $f; touch -r $f t',
      'f=$(printf "d/%.0s" $(seq 203))x; echo EVIL > $f; touch -r t $f',
      'd/',
    ],
    [
      'a dirty mapping of a file that was removed and linked again',
      '',
      mapped(
        'os.link("deploy.sh", "x"); put("x", 10, 5, b"EVIL"); os.remove("deploy.sh"); os.rename("x", "deploy.sh")',
      ),
    ],
    [
      'a dirty mapping of a file that is too large',
      '',
      mapped('open("deploy.sh", "wb").write(bytes(200000)); put("deploy.sh", 200000, 5, b"EVIL")'),
    ],
    ['the branch of HEAD', 'true', 'git symbolic-ref HEAD refs/heads/evil', '.git/HEAD'],
    ['the index alone', 'git add dir', 'git read-tree --empty', '.git/index'],
    ['a nested repository', 'true', 'git init -q sub', 'sub/.git'],
    [
      'a hook of a nested repository',
      'git init -q sub',
      'mkdir -p sub/.git/hooks; echo EVIL > sub/.git/hooks/post-checkout',
      'sub/.git/hooks/',
    ],
    [
      'writers that never stop',
      'true',
      `for i in 1 2 3 4; do (while :; do echo $RANDOM > deploy.sh; done) & done; sleep 0.1`,
    ],
    [
      'a program that catches every signal and forks without end',
      'true',
      `bash -c 'trap "" TERM INT HUP CONT TSTP; f() { echo $BASHPID > deploy.sh; [ $(ls /proc | grep -c "^[0-9]") -lt 60 ] && f & }; while :; do f; wait -n; done' & sleep 0.1`,
    ],
  ],
};

async function decideAs(user: User, all: readonly DecisionCase[]): Promise<DecisionResult[]> {
  const directory = makeDirectory(user, 0o711);
  try {
    const env = { PATH: systemPath, HOME: directory };
    return await runProgram(user, 'decision-process.ts', [directory, JSON.stringify(all)], env);
  } finally {
    removeTree(directory);
  }
}

describe.each(users)('between a decision and its call, as $name,', (user) => {
  test('every change of the files is noticed, and none happens during the call', async () => {
    const all = inForm(cases);
    const results = await decideAs(
      user,
      all.map(([name, first, after]) => ({ name, first, after })),
    );
    expect(results.map(({ name, noticed, isStable, versions }) => ({ name, noticed, isStable, versions }))).toEqual(
      all.map(([name]) => ({ name, noticed: true, isStable: true, versions: 1 })),
    );
    for (const [at, [name, , , changed = 'deploy.sh']] of all.entries()) {
      const isListed = results[at]?.changes.some(({ path }) => path.startsWith(changed));
      expect(isListed, name).toBe(true);
    }
  }, 600_000);
});
