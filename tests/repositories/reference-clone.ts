import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { git, runScript } from './real-git.ts';
import type { TestRepository } from './scenario.ts';

/** A workspace has the repository's bytes, so the clone is checked out without conversions. */
const raw = '* -text -ident -filter -working-tree-encoding\n';
const lfsClean = fileURLToPath(new URL('lfs-clean.sh', import.meta.url));

/** A clone for executing the run's scripts, to compare git's result with the run's. */
export interface ReferenceClone {
  folder: string;
  /** The commit at the start of the run. */
  base: string;
  edit(script: string): void;
  /** The tree of all files, with unconverted bytes. */
  wholeTree(): string;
  /** The tree without ignored files, as in a review. */
  reviewedTree(): string;
  /** The tree of `git add -A`, converted by `.gitattributes`. */
  addedTree(): string;
}

export function cloneReference(made: TestRepository, folder: string): ReferenceClone {
  const shown = git(made.path, ['rev-parse', '--git-common-dir', `${made.ref ?? 'HEAD'}^{commit}`]).split('\n');
  const [common = '', base = ''] = [resolve(made.path, shown[0] ?? ''), shown[1]];
  mkdirSync(folder, { recursive: true });
  git(folder, ['clone', '-q', '--no-checkout', '--no-hardlinks', made.path, '.']);
  const info = (name: string) => join(folder, '.git/info', name);
  mkdirSync(join(folder, '.git/info'), { recursive: true });
  for (const name of ['exclude', 'attributes']) {
    const own = join(common, 'info', name);
    if (existsSync(own)) copyFileSync(own, info(name));
  }
  const attributes = existsSync(info('attributes')) ? readFileSync(info('attributes')) : undefined;
  writeFileSync(info('attributes'), raw);
  git(folder, ['checkout', '-q', '--detach', base]);
  // On `add` git reads an entry as young as the index again, and would convert the entry without a change by any script.
  runScript(folder, 'find . -path ./.git -prune -o -type f -exec touch -d 2001-01-01 {} +');
  git(folder, ['update-index', '-q', '--refresh']);
  git(folder, ['config', 'filter.lfs.clean', `sh ${lfsClean}`]);
  git(folder, ['config', 'filter.lfs.required', 'true']);

  const add = (...flags: string[]): string => {
    copyFileSync(join(folder, '.git/index'), join(folder, '.git/index.tried'));
    const env = { GIT_INDEX_FILE: join(folder, '.git/index.tried') };
    git(folder, ['add', '-A', ...flags], { env });
    return git(folder, ['write-tree'], { env }).trim();
  };
  return {
    folder,
    base,
    edit: (script) => runScript(folder, script),
    wholeTree: () => add('--force'),
    reviewedTree: () => add(),
    addedTree() {
      if (attributes === undefined) rmSync(info('attributes'));
      else writeFileSync(info('attributes'), attributes);
      const tree = add();
      writeFileSync(info('attributes'), raw);
      return tree;
    },
  };
}
