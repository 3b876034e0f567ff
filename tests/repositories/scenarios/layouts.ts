import { join } from 'node:path';
import { git, runScript } from '../real-git.ts';
import { commitFolder, files, type Scenario, work } from '../scenario.ts';

const bare: Scenario = {
  name: 'a bare repository',
  make(folder) {
    const path = commitFolder(folder, files);
    git(folder, ['clone', '-q', '--bare', path, 'bare.git']);
    return { path: join(folder, 'bare.git') };
  },
  ...work,
};

/** `info/` and `lfs/` belong to the repository, not to the work tree. */
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

export const layouts: readonly Scenario[] = [bare, linkedWorkTree, orphan, shared, history];
