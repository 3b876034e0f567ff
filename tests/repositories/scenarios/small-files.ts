import type { Scenario } from '../scenario.ts';

/** A few files, for scenarios that are about the repository and not its files. */
export const files =
  "mkdir -p src docs && printf 'one\\ntwo\\nthree\\n' | tee src/a.txt src/b.txt docs/c.txt > /dev/null";
export const work: Pick<Scenario, 'edits' | 'theirs' | 'conflicting'> = {
  edits: ['sed -i s/one/eins/ src/a.txt', 'mv docs/c.txt docs/d.txt; echo new > src/new.txt', 'rm -f src/b.txt'],
  theirs: 'sed -i s/three/drei/ src/a.txt; echo theirs > docs/theirs.txt',
  conflicting: 'sed -i s/one/un/ src/a.txt; echo four >> src/b.txt; echo four >> docs/c.txt',
};
