import { join } from 'node:path';
import { projectDir } from '../../harness/processes.ts';
import { commitFolder, type Scenario } from '../scenario.ts';

/** The files of an installed dependency: a real tree of hundreds of files. */
export function installedPackage(name: string, { isBounded }: { isBounded?: true } = {}): Scenario {
  /** Not `head`: an early exit of `head` kills the writer by SIGPIPE. */
  const some = (which: 'head' | 'tail', count: number) =>
    `find . -path ./.git -prune -o -type f -name '*.[jt]s' -size +1k -print | LC_ALL=C sort | ${which === 'head' ? `sed -n '1,${count}p'` : `tail -n ${count}`}`;
  return {
    name: `the package ${name}`,
    isBounded,
    asDirectory: 'full',
    make(folder) {
      const from = join(projectDir, 'node_modules', name);
      const ignore = "printf 'node_modules/\\n*.log\\n/built/*\\n!/built/kept.txt\\n' >> .gitignore";
      const path = commitFolder(folder, `cp -rL '${from}/.' . && rm -rf node_modules && ${ignore}`);
      return { path };
    },
    edits: [
      `${some('head', 20)} | while read -r file; do sed -i '1i // edited' "$file"; done`,
      `${some('tail', 20)} | while read -r file; do chmod +x "$file"; done; rm README.md`,
      `mkdir -p moved && ${some('tail', 5)} | while read -r file; do mv "$file" moved/; done`,
      'mkdir -p node_modules/left-pad built deep/new && echo 1 | tee node_modules/left-pad/index.js built/out.js built/kept.txt deep/new/x.log deep/new/y.txt > /dev/null',
    ],
    theirs: `${some('head', 20)} | while read -r file; do echo '// theirs' >> "$file"; done; echo theirs > theirs.txt`,
    conflicting: `${some('head', 3)} | while read -r file; do sed -i '1i // other' "$file"; done; ${some('tail', 2)} | while read -r file; do echo '// changed' >> "$file"; done`,
  };
}
