import { join } from 'node:path';
import { git, runScript } from '../real-git.ts';
import type { Scenario } from '../scenario.ts';
import { commitFolder } from './commit-folder.ts';

const files = "mkdir -p src docs && printf 'one\\ntwo\\nthree\\n' | tee src/a.txt src/b.txt docs/c.txt > /dev/null";
const work: Pick<Scenario, 'edits' | 'theirs' | 'clash'> = {
  edits: ['sed -i s/one/eins/ src/a.txt', 'mv docs/c.txt docs/d.txt; echo new > src/new.txt', 'rm -f src/b.txt'],
  theirs: 'sed -i s/three/drei/ src/a.txt; echo theirs > docs/theirs.txt',
  clash: 'sed -i s/one/un/ src/a.txt; echo four >> src/b.txt; echo four >> docs/c.txt',
};

const bare: Scenario = {
  name: 'a bare repository',
  make(folder) {
    const path = commitFolder(folder, files);
    git(folder, ['clone', '-q', '--bare', path, 'bare.git']);
    return { path: join(folder, 'bare.git') };
  },
  ...work,
};

/** What lies in `info/` and in `lfs/` belongs to the repository, not to the work tree. */
const linkedWorkTree: Scenario = {
  name: 'a linked work tree',
  asDirectory: 'full',
  make(folder) {
    const path = commitFolder(folder, files);
    git(path, ['worktree', 'add', '-q', '-b', 'linked', '../linked']);
    runScript(
      join(folder, 'linked'),
      `echo linked > linked.txt; git add -A; git commit -q -m linked; echo dirty >> linked.txt; git config extensions.worktreeConfig true; git config --worktree core.eol lf
printf '*.crlf text\\n*.bin filter=lfs -text\\n' > ../repo/.git/info/attributes; echo '*.hidden' >> ../repo/.git/info/exclude`,
    );
    return { path: join(folder, 'linked') };
  },
  ...work,
  edits: [...work.edits, "printf 'a\\r\\nb\\r\\n' | tee new.crlf new.bin new.hidden new.raw > /dev/null"],
};

/** A blob and a commit stand for others where git looks at them, and nowhere else. */
const replaced: Scenario = {
  name: 'replaced objects',
  make(folder) {
    const path = commitFolder(folder, files);
    runScript(
      path,
      `git replace "$(git rev-parse HEAD:src/a.txt)" "$(echo replaced | git hash-object -w --stdin)"
echo other > other.txt; git add other.txt; git replace HEAD "$(git commit-tree -m other "$(git write-tree)")"; git reset -q --hard`,
    );
    return { path };
  },
  ...work,
};

const everythingGone: Scenario = {
  name: 'a run that removes everything',
  asDirectory: 'full',
  make: (folder) => ({ path: commitFolder(folder, `${files}; ln -s nowhere link; : > empty`) }),
  edits: ['rm -r src docs', 'rm link empty'],
  theirs: 'echo theirs > theirs.txt',
  clash: 'echo more >> src/a.txt',
};

const orphan: Scenario = {
  name: 'an orphan branch',
  make(folder) {
    const path = commitFolder(folder, 'echo main > main.txt');
    runScript(path, `git switch -q --orphan pages; ${files}; git add -A; git commit -q -m pages; git switch -q main`);
    return { path, ref: 'pages' };
  },
  ...work,
};

const shared: Scenario = {
  name: 'a shallow clone and objects of another repository',
  make(folder) {
    const path = commitFolder(folder, files);
    runScript(path, 'echo later > later.txt; git add -A; git commit -q -m later');
    git(folder, ['clone', '-q', '--depth', '1', `file://${path}`, 'shallow']);
    git(folder, ['clone', '-q', '--shared', join(folder, 'shallow'), 'shared']);
    return { path: join(folder, 'shared') };
  },
  ...work,
};

const history: Scenario = {
  name: 'a history of merges and tags, packed',
  make(folder) {
    const path = commitFolder(folder, files);
    runScript(
      path,
      `for n in 1 2 3; do
  git switch -q -c "topic/$n" main; echo "$n" > "topic-$n.txt"; git add -A; git commit -q -m "topic $n"
  git switch -q main; echo "$n" >> docs/log.txt; git add -A; git commit -q -m "main $n"
  git merge -q --no-ff -m "merge $n" "topic/$n"
done
git tag -a -m 'a release' v1.0 HEAD~1; git tag light v1.0~1; git tag -a -m 'a tag of a tag' nested v1.0
git merge -q --no-ff -m octopus topic/1 topic/2 || true; git gc -q; git pack-refs --all`,
    );
    return { path, ref: 'nested' };
  },
  ...work,
};

/** Modes with a zero before them, as very old programs wrote them; and a mode of a file that git has long since given up. */
const oldTrees: Scenario = {
  name: 'trees of an old program',
  make(folder) {
    const path = commitFolder(folder, `${files}; mkdir old; echo o > old/o.txt; echo g > old/g.txt`);
    const entry = (mode: string, name: string): string => {
      const oid = git(path, ['rev-parse', `HEAD:${name}`]).trim();
      return `${mode} ${name.split('/').at(-1)}\0${Buffer.from(oid, 'hex').toString('latin1')}`;
    };
    const write = (tree: string): string =>
      git(path, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], { input: tree }).trim();
    const old = write(entry('100664', 'old/g.txt') + entry('0100644', 'old/o.txt'));
    const replaced = `40000 old\0${Buffer.from(old, 'hex').toString('latin1')}`;
    const top = write(entry('040000', 'docs') + replaced + entry('40000', 'src'));
    const commit = git(path, ['commit-tree', top, '-m', 'old']).trim();
    git(path, ['update-ref', 'refs/heads/main', commit]);
    git(path, ['read-tree', 'HEAD']);
    return { path };
  },
  ...work,
};

/** Everything that a user may be in the middle of, and hooks that would leave a trace. */
const inUse: Scenario = {
  name: 'a repository in use',
  asDirectory: 'full',
  make(folder) {
    const path = commitFolder(folder, files);
    runScript(
      path,
      `git switch -q -c work; git config index.version 4; git config core.untrackedCache true; git config core.splitIndex true
echo dirty >> src/a.txt; rm src/b.txt; git stash -q; git stash apply -q
echo staged > staged.txt; git add staged.txt; echo more >> staged.txt; echo untracked > untracked.txt; echo intent > intent.txt; git add -N intent.txt
git update-index --assume-unchanged docs/c.txt; echo hidden >> docs/c.txt; git rev-parse HEAD > .git/MERGE_HEAD; echo merging > .git/MERGE_MSG
git config core.fsmonitor '${folder}/hook'; git config core.autocrlf true; git config user.name 'The User'
printf '#!/bin/sh\\necho "$0 $*" >> ${folder}/hooks-ran\\n' > ../hook; chmod +x ../hook
for hook in pre-commit post-commit reference-transaction post-checkout post-index-change update post-update pre-receive; do cp ../hook ".git/hooks/$hook"; done`,
    );
    return { path };
  },
  ...work,
};

export const layouts: readonly Scenario[] = [
  bare,
  linkedWorkTree,
  orphan,
  shared,
  history,
  oldTrees,
  replaced,
  everythingGone,
  inUse,
];
