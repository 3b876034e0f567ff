import { git, runScript } from '../real-git.ts';
import { commitFolder, files, type Scenario, work } from '../scenario.ts';

/** Replace refs: git shows another blob and another commit in place of the original ones. */
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
  conflicting: 'echo more >> src/a.txt',
};

/** Modes with a leading zero, as in very old programs, and a file mode git no longer writes. */
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

/** Unfinished work of a user in every form, and hooks with a trace. */
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

export const oddStates: readonly Scenario[] = [oldTrees, replaced, everythingGone, inUse];
