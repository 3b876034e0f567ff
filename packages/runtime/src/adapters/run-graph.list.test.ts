import { questionNames } from '@holdpoint/code-graph';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { expect, test } from 'vitest';

test.each([
  ['holdpoint', 'code_graph'],
  ['sage', 'GraphQuery'],
])('a model of %s reads of every query', (toolset, name) => {
  const tool = createRegistry(everyToolset)
    .list(toolset)
    .find((one) => one.name === name);
  for (const query of questionNames) expect(tool?.description).toMatch(new RegExp(`\\b${query} \\{`));
});
