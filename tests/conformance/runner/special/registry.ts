import { openRunBackend } from '@holdpoint/client';
import type { Json } from '@holdpoint/contract';
import { createRyanRegistry, createSageRegistry, createWorkbenchRegistry } from '@holdpoint/tools/registries';
import { z } from 'zod';
import { type Found, Thrown } from '../match.ts';
import { parseArgs } from './args.ts';
import { type Scene, type Special, SpecialError } from './special.ts';

const opsSchema = z.strictObject({ ops: z.array(z.array(z.json()).min(1)).min(1) });

/** Operations on the registry of a contract, in this process; its calls run in the run. */
export const onRegistry: Special = async (scene, args) => {
  const { ops } = parseArgs(opsSchema, args);
  const registry = registryOf(scene, ops);
  const results: Found[] = [];
  for (const [name, ...values] of ops) {
    const operation = Object.hasOwn(registry, String(name)) ? registry[String(name)] : undefined;
    if (typeof operation !== 'function') throw new SpecialError(`the registry of ${scene.toolset} has no ${name}`);
    results.push(await resultOf(() => operation(...values)));
  }
  return { native: results as Found, ok: true, steps: [] };
};

function registryOf({ bench, run, toolset }: Scene, ops: readonly (readonly Json[])[]): Record<string, unknown> {
  const backend = openRunBackend(bench.system.client, { id: run.id, toolset });
  switch (toolset) {
    case 'workbench':
      return { ...createWorkbenchRegistry(backend) };
    case 'sage':
      return { ...createSageRegistry(backend) };
    case 'ryan': {
      const registry = createRyanRegistry(backend);
      // A new registry of this contract is empty.
      if (!ops.some(([name]) => name === 'registerBuiltinTools')) registry.registerBuiltinTools();
      return { ...registry };
    }
    default:
      throw new SpecialError(`the toolset ${toolset} has no registry`);
  }
}

/** In the form of JSON: undefined is null, functions are left out. */
async function resultOf(operate: () => unknown): Promise<Found> {
  try {
    return JSON.parse(JSON.stringify((await operate()) ?? null)) as Json;
  } catch (error) {
    return new Thrown(error instanceof Error ? error.message : String(error));
  }
}
