import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createRegistry } from '../registry/registry.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { loadToolsets, toolModulesFrom } from './load-toolsets.ts';

const directory = mkdtempSync(join(tmpdir(), 'hp-load-toolsets-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let count = 0;
const moduleWith = (text: string): string => {
  const path = join(directory, `${count++}.mjs`);
  writeFileSync(path, text);
  return path;
};
const tool = `{ name: 'look', description: 'Looks.', effect: 'read', risk: 'low', input: { type: 'object' }, execute() {} }`;
const load = (...modules: string[]) => loadToolsets(modules, directory, [holdpoint]);

describe('a module with', () => {
  it.each([
    ['a syntax error', 'export const = 1;', /Unexpected token|Parse|syntax/i],
    ['an error at its start', 'throw new Error("no licence");', /no licence\. ?$/],
    ['no tools', 'export const a = 1; export const b = () => {};', /exports no toolset, but a, b/],
    ['a tool alone', `export const a = ${tool};`, /a is a tool alone/],
    [
      'a misspelt field',
      `export default { name: 'x', tools: [{ ...${tool}, excute: 1 }] };`,
      /excute: unknown field; nearest: execute/,
    ],
    [
      'a misspelt field of the toolset',
      `export default { name: 'x', tool: 1, tools: [${tool}] };`,
      /tool: unknown field; nearest: tools/,
    ],
    [
      'no effect',
      `export default { name: 'x', tools: [{ ...${tool}, effect: 'none' }] };`,
      /tools\.0\.effect: expected read, workspace/,
    ],
    [
      'a version that is none',
      `export default { name: 'x', tools: [{ ...${tool}, version: 'v1' }] };`,
      /semantic version/,
    ],
    ['no tool in a toolset', `export default { name: 'x', tools: [] };`, /at least one tool/],
    [
      'the name of a known toolset',
      `export default { name: 'holdpoint', tools: [${tool}] };`,
      /already a toolset named "holdpoint"/,
    ],
    ['a name of no toolset', `export default { name: 'X y', tools: [${tool}] };`, /name: expected small letters/],
    ['two tools of one name', `export default { name: 'x', tools: [${tool}, ${tool}] };`, /two tools named "look"/],
    [
      'the name of a tool of an MCP server',
      `export default { addsTo: 'holdpoint', tools: [{ ...${tool}, name: 'mcp__github__get' }] };`,
      /"mcp__github__get" begins with mcp__/,
    ],
    ['no toolset to add to', `export default { addsTo: 'holdpont', tools: [${tool}] };`, /nearest: holdpoint/],
    [
      'a tool that is there',
      `export default { addsTo: 'holdpoint', tools: [{ ...${tool}, name: 'bash' }] };`,
      /two tools named "bash"/,
    ],
    [
      'a schema of no object',
      `export default { name: 'x', tools: [{ ...${tool}, input: { type: 'string' } }] };`,
      /not an object schema/,
    ],
    [
      'an unknown keyword',
      `export default { name: 'x', tools: [{ ...${tool}, input: { type: 'object', prop: 1 } }] };`,
      /"prop"/,
    ],
  ])('%s is refused', async (_name, text, why) => {
    const module = moduleWith(text);
    const error = await load(module).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ETOOLMODULE', message: expect.stringMatching(why) });
    expect(error).toHaveProperty('message', expect.stringContaining(`HOLDPOINT_TOOLS: ${module} cannot be used: `));
    expect(error).toHaveProperty('next', expect.stringContaining('for the API and all workers'));
  });
});

it('two modules with one toolset name the second one', async () => {
  const [first, second] = [0, 1].map(() => moduleWith(`export default { name: 'x', tools: [${tool}] };`)) as [
    string,
    string,
  ];
  await expect(load(first, second)).rejects.toThrow(`${second} cannot be used: there is already a toolset named "x"`);
});

it('loads packages, files and URLs, and adds to toolsets of modules before', async () => {
  const own = moduleWith(`export const own = { name: 'x', tools: [${tool}] };`);
  const more = `file://${moduleWith(`export default [{ addsTo: 'x', tools: [{ ...${tool}, name: 'Look-2' }] }];`)}`;
  const { toolsets, modules } = await load(own, more);
  expect(
    createRegistry(toolsets)
      .list('x')
      .map(({ name }) => name),
  ).toEqual(['look', 'Look-2']);
  expect(modules.map(({ tools }) => Object.keys(tools))).toEqual([['x.look'], ['x.Look-2']]);
  const extra = await loadToolsets(['@holdpoint/tools/workbench-extra'], resolve(import.meta.dirname, '../../../..'), [
    { name: 'workbench', tools: [] },
  ]);
  expect(extra.toolsets[0]?.tools.map(({ name }) => name)).toEqual([
    ...['git_status', 'git_commit', 'git_push', 'search_code', 'run_tests', 'format_code', 'install_package'],
  ]);
});

it('leaves the known toolsets as they are', async () => {
  const before = holdpoint.tools.length;
  await load(moduleWith(`export default { addsTo: 'holdpoint', tools: [${tool}] };`));
  expect(holdpoint.tools).toHaveLength(before);
});

describe('HOLDPOINT_TOOLS', () => {
  it('is separated by commas', () => {
    expect(toolModulesFrom({ HOLDPOINT_TOOLS: ' /a.ts, some-package ,@scope/other,' })).toEqual([
      ...['/a.ts', 'some-package', '@scope/other'],
    ]);
    expect(toolModulesFrom({})).toEqual([]);
  });

  it.each(['./a.ts', '../a.ts', '.', '/a.ts,/a.ts'])('is refused as %s', (value) => {
    expect(() => toolModulesFrom({ HOLDPOINT_TOOLS: value })).toThrow(/^HOLDPOINT_TOOLS: /);
  });
});
