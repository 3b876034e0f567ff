import type { Json } from '@holdpoint/contract';
import { defineTool } from '@holdpoint/tools/registries';
import { z } from 'zod';
import { parseArgs } from './args.ts';
import type { Special } from './special.ts';

const customArgs = z.strictObject({
  define: z.strictObject({
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.json()),
    behaviour: z.string().startsWith('uppercase:'),
  }),
  args: z.record(z.string(), z.json()),
});

/** Defines a tool from a function and calls the tool. */
export const customTool: Special = async (scene, args) => {
  const { define, args: given } = parseArgs(customArgs, args);
  const { behaviour, parameters, ...about } = define;
  const key = behaviour.slice('uppercase:'.length);
  const tool = defineTool({
    ...about,
    parameters: z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]),
    implementation: (input) => String((input as Record<string, Json>)[key]).toUpperCase(),
  });
  const native = (await tool.execute(given)) as unknown as Json;
  return { native, ok: scene.adapter.ok(native), steps: [] };
};
