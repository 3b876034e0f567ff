import { expect, test } from 'vitest';
import { useGraphHost } from '../testing/graph-host.ts';

const host = useGraphHost();

const tree = {
  'src/shapes.ts':
    'export function area(a: number) {\n  return a;\n}\nexport function rare(a: number) {\n  return a;\n}\nfunction own() {}\nown();\n',
  'src/a.ts': "import { area, rare } from './shapes.ts';\narea(1);\narea(2);\nrare(3);\n",
  'src/b.ts': "import { area } from './shapes.ts';\narea(1);\n",
  'lib/c.py': 'def area(x):\n    return x\n',
  'lib/d.py': 'from .c import area\narea(1)\n',
};

test('declarations come by the files that use them, and each process ranks the same', async () => {
  const run = await host.run(tree);
  const rows = await run.ask('map');
  expect(rows.map(({ path, name, uses }) => [path, name, uses])).toEqual([
    ['src/shapes.ts', 'area', 2],
    ['lib/c.py', 'area', 1],
    ['src/shapes.ts', 'rare', 1],
  ]);
  expect(await run.on(host.reopen()).ask('map')).toEqual(rows);
  const bound = await run.ask('map', {}, { permissions: ['graph:read', 'fs:read:lib/**'] });
  expect(bound.map(({ path }) => path)).toEqual(['lib/c.py']);
});
