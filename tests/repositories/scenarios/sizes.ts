import { commitFolder, type Scenario } from '../scenario.ts';

/** Larger than the memory limits of git or a snapshot. */
const large: Scenario = {
  name: 'files of 80 MB',
  asDirectory: 'full',
  make: (folder) => ({
    path: commitFolder(folder, `head -c 80000000 /dev/zero > large.bin; echo small > small.txt; echo s > same.txt`),
  }),
  edits: [
    'printf changed | dd of=large.bin bs=1 seek=40000000 conv=notrunc status=none',
    `head -c 80000000 /dev/zero | tr '\\0' '\\1' > new.bin; printf '\\0' >> new.bin; echo edited >> small.txt`,
    'mkdir moved; mv new.bin moved/',
  ],
  theirs: 'echo theirs >> same.txt',
  conflicting: 'printf other >> large.bin',
  aboveThePatch: 'large.bin',
};

const many: Scenario = {
  name: '10,000 small files',
  asDirectory: 'full',
  make: (folder) => ({
    path: commitFolder(
      folder,
      `for folder in $(seq 100); do mkdir -p "d$folder"; for file in $(seq 100); do echo "$folder $file" > "d$folder/f$file"; done; done; echo out/ > .gitignore`,
    ),
  }),
  edits: [
    'for folder in $(seq 20); do for file in $(seq 50); do echo edited >> "d$folder/f$file"; done; done',
    'rm -r d90 d91 d92; mv d93 moved; chmod +x d94/*',
    'mkdir -p out/deep new; for file in $(seq 3000); do echo "$file" > "out/deep/$file"; echo "$file" > "new/$file"; done',
  ],
  theirs: 'for folder in $(seq 30 40); do for file in $(seq 50); do echo theirs >> "d$folder/f$file"; done; done',
  conflicting: 'echo other >> d1/f1; echo other >> d90/f1; echo other >> d93/f7',
};

export const sizes: readonly Scenario[] = [large, many];
