import type { Scenario } from '../scenario.ts';

/** For repositories that are tried for what is around the files: makes a few of them. */
export const files =
  "mkdir -p src docs && printf 'one\\ntwo\\nthree\\n' | tee src/a.txt src/b.txt docs/c.txt > /dev/null";
export const work: Pick<Scenario, 'edits' | 'theirs' | 'clash'> = {
  edits: ['sed -i s/one/eins/ src/a.txt', 'mv docs/c.txt docs/d.txt; echo new > src/new.txt', 'rm -f src/b.txt'],
  theirs: 'sed -i s/three/drei/ src/a.txt; echo theirs > docs/theirs.txt',
  clash: 'sed -i s/one/un/ src/a.txt; echo four >> src/b.txt; echo four >> docs/c.txt',
};
