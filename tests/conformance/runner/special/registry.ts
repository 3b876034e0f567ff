import { openRunBackend } from '@holdpoint/client';
import type { Json } from '@holdpoint/contract';
import { everyToolset } from '@holdpoint/tools';
import { createRyanRegistry, createSageRegistry, createWorkbenchRegistry } from '@holdpoint/tools/registries';
import { z } from 'zod';
import { type Found, Thrown } from '../match.ts';
import { parseArgs } from './args.ts';
import { type Scene, type Special, SpecialError } from './special.ts';

const opsSchema = z.strictObject({ ops: z.array(z.array(z.json()).min(1)).min(1) });

/** Operations on the registry of a contract, in this process; its calls are those of the run. */
export const onRegistry: Special = async (scene, args) => {
  const registry = registryOf(scene);
  const results: Found[] = [];
  for (const [name, ...values] of parseArgs(opsSchema, args).ops) {
    const operation = Object.hasOwn(registry, String(name)) ? registry[String(name)] : undefined;
    if (typeof operation !== 'function') throw new SpecialError(`the registry of ${scene.toolset} has no ${name}`);
    results.push(await resultOf(() => operation(...values)));
  }
  return { native: results as Found, ok: true, steps: [] };
};

function registryOf({ bench, run, toolset }: Scene): Record<string, unknown> {
  const backend = openRunBackend(bench.system.client, { id: run.id, toolset });
  const found = everyToolset.find(({ name }) => name === toolset);
  if (toolset === 'workbench') return { ...createWorkbenchRegistry(backend) };
  if (found && toolset === 'ryan') return { ...createRyanRegistry(backend, { toolset: found }) };
  if (found && toolset === 'sage') return { ...createSageRegistry(backend, { toolset: found }) };
  throw new SpecialError(`the toolset ${toolset} has no registry`);
}

/** As JSON has it: undefined is null, functions are left out. */
async function resultOf(operate: () => unknown): Promise<Found> {
  try {
    return JSON.parse(JSON.stringify((await operate()) ?? null)) as Json;
  } catch (error) {
    return new Thrown(error instanceof Error ? error.message : String(error));
  }
}
