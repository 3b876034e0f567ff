import type { Scenario } from '../scenario.ts';
import { commitFolder } from './commit-folder.ts';

/** Both sides change other lines of the same files, which `.gitattributes` keep git from merging, or have it merge by union. */
export const mergeDrivers: Scenario = {
  name: 'files that are merged in another way',
  make: (folder) => ({
    path: commitFolder(
      folder,
      `printf '*.lock -merge\\n*.bin binary\\n*.log merge=union\\n*.set merge\\n' > .gitattributes
for name in a.lock a.bin a.log a.set a.txt; do seq 30 > "$name"; done`,
    ),
  }),
  edits: [`sed -i '2s/$/ run/' a.txt a.set`, `echo mine >> a.log`, `sed -i '2s/$/ run/' a.lock a.bin`],
  theirs: `sed -i '28s/$/ theirs/' a.txt a.set; echo theirs >> a.log`,
  clash: `sed -i '28s/$/ theirs/' a.lock a.bin a.txt; echo theirs >> a.log`,
};
