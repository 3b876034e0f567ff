import { runScript } from '../real-git.ts';
import { commitFolder, type Scenario } from '../scenario.ts';

/** Rules in nested folders, with negation, in the repository's own exclude file, changed by the run, and for tracked files. */
export const ignoreRules: Scenario = {
  name: 'nested ignore rules',
  asDirectory: 'full',
  make(folder) {
    const path = commitFolder(
      folder,
      String.raw`
mkdir -p pkg/a pkg/b/keep logs; echo tracked > pkg/a/tracked.log; echo old > logs/old.txt; echo x > pkg/b/keep/x
git add -A
printf 'bulk/*\n!bulk/keep*\n*.link\n*.log\n!important.log\nlogs/\n/only-top\nbuild*/\n!build-kept/\n**/cache/**\n\\#odd\ntrailing\\ \n[ab].tmp\n' > .gitignore
printf '!*.log\nkeep/\n' > pkg/b/.gitignore; printf '/local\n' > pkg/a/.gitignore`,
    );
    runScript(
      path,
      `printf 'private/\\n*.secret\\n!open.secret\\n' >> .git/info/exclude; mkdir private; echo p > private/p`,
    );
    return { path };
  },
  edits: [
    `echo changed >> pkg/a/tracked.log; echo changed >> logs/old.txt; echo n > logs/new.txt
for file in x.log important.log only-top pkg/only-top pkg/a/y.log pkg/b/z.log pkg/a/local pkg/local '#odd' 'trailing ' a.tmp c.tmp x.secret open.secret; do echo n > "$file"; done`,
    `mkdir -p build build-kept build-x/deep private pkg/b/keep/more a/cache/b .github/workflows
for file in build/f build-kept/f build-x/deep/f private/q pkg/b/keep/y pkg/b/keep/more/z a/cache/b/c .github/workflows/ci.yml .env; do echo n > "$file"; done`,
    `echo '*.env
.env
!x.log' >> .gitignore; mkdir new && printf '*\\n!yes\\n!.gitignore\\n' > new/.gitignore; echo n > new/yes; echo n > new/no; rm pkg/a/.gitignore`,
    `mkdir -p bulk/inner gen; for n in $(seq 1200); do echo n > "bulk/f$n"; echo n > "gen/g$n"; done; echo n > bulk/keep1; echo n > bulk/inner/keep2; printf '*\\n!.gitignore\\n!g1?\\n' > gen/.gitignore; ln -s nowhere x.link`,
  ],
  theirs: 'echo theirs > theirs.txt; git add -f theirs.txt; echo more >> pkg/b/keep/x',
};
