import { commitFolder, type Scenario } from '../scenario.ts';

/** Both sides change different lines of the same files. `.gitattributes` disables merging or selects union for these files. */
export const mergeDrivers: Scenario = {
  name: 'files with merge attributes',
  make: (folder) => ({
    path: commitFolder(
      folder,
      `printf '*.lock -merge\\n*.bin binary\\n*.log merge=union\\n*.set merge\\n' > .gitattributes
for name in a.lock a.bin a.log a.set a.txt; do seq 30 > "$name"; done`,
    ),
  }),
  edits: [`sed -i '2s/$/ run/' a.txt a.set`, `echo mine >> a.log`, `sed -i '2s/$/ run/' a.lock a.bin`],
  theirs: `sed -i '28s/$/ theirs/' a.txt a.set; echo theirs >> a.log`,
  conflicting: `sed -i '28s/$/ theirs/' a.lock a.bin a.txt; echo theirs >> a.log`,
};
