import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shout } from '../../examples/tools/shout.ts';
import { projectDir } from '../harness/index.ts';

const read = (file: string): string => readFileSync(join(projectDir, file), 'utf8');

it.each(['notes', 'shout', 'chronicle'])('docs/custom-tools.md shows the example %s', (name) =>
  expect(read('docs/custom-tools.md')).toContain(`\`\`\`ts\n${read(`examples/tools/${name}.ts`)}\`\`\``),
);

it('examples/tools/shout.ts returns its data, and names a bad parameter', async () => {
  expect(await shout.execute({ s: 'abc' })).toMatchObject({ ok: true, data: 'ABC' });
  expect(await shout.execute({ s: 1 })).toMatchObject({ ok: false, error: { code: 'EVALIDATION' } });
});
