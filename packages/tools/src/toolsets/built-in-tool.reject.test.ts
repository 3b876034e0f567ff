import { describe, expect, it } from 'vitest';
import { defineTool } from '../define-tool.ts';
import { everyToolset } from './every-toolset.ts';
import { workbenchExtra } from './workbench/extra/index.ts';

const builtIn = [...everyToolset, { name: 'workbench-extra', tools: workbenchExtra.tools }];

describe.each(builtIn)('$name', ({ tools }) => {
  it.each(tools.map((tool) => [tool.name, tool] as const))('%s is a tool that can be defined', (_name, tool) => {
    expect(defineTool(tool)).toBe(tool);
  });
});
