import { git, runScript } from '../real-git.ts';
import { commitFolder, type Scenario } from '../scenario.ts';

/** Checked-out submodules, including nested ones. In a workspace they are empty folders. */
export const submodules: Scenario = {
  name: 'submodules',
  make(folder) {
    const inner = commitFolder(folder, 'echo inner > inner.txt', 'inner');
    const library = commitFolder(folder, 'echo library > library.txt', 'library');
    const allow = ['-c', 'protocol.file.allow=always'];
    git(library, [...allow, 'submodule', 'add', '-q', inner, 'nested']);
    git(library, ['commit', '-q', '-m', 'nested']);
    const path = commitFolder(folder, 'mkdir -p vendor src; echo a > src/a.txt; echo b > vendor/b.txt');
    for (const name of ['vendor/library', 'other library'])
      git(path, [...allow, 'submodule', 'add', '-q', library, name]);
    git(path, ['commit', '-q', '-m', 'submodules']);
    git(path, [...allow, 'submodule', 'update', '-q', '--init', '--recursive']);
    runScript(path, 'echo dirty >> vendor/library/library.txt');
    return { path };
  },
  edits: [
    'echo edited >> src/a.txt; echo new > vendor/new.txt; test -d vendor/library; test -z "$(ls -A vendor/library)"',
    'rm vendor/b.txt; mv src moved',
    `printf '\\tbranch = main\\n' >> .gitmodules`,
  ],
  theirs: 'git update-index --cacheinfo "160000,$(git rev-parse HEAD),vendor/library"; echo theirs > vendor/theirs.txt',
  conflicting: 'echo other >> src/a.txt',
};
