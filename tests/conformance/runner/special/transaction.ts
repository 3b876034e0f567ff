import { ApiError } from '@holdpoint/client';
import type { Json } from '@holdpoint/contract';
import { z } from 'zod';
import type { Case } from '../case.ts';
import { callArgs, parseArgs } from './args.ts';
import { makeCalls, type Special } from './special.ts';

const argsSchema = z.strictObject({ calls: z.array(callArgs).min(1), validator: z.enum(['pass', 'fail']) });

/** Calls on the staging copy, published afterwards: the validator decides whether they reach the source. */
export const transaction: Special = async (scene, args) => {
  const { calls } = parseArgs(argsSchema, args);
  const steps = [];
  for (const call of calls) steps.push(...(await makeCalls(scene, [call])));
  const results = steps.map(({ result }) => result);
  const published = results.every((one) => scene.adapter.ok(one)) ? await publish(scene) : 'a call failed';
  const native: Json = { published: published === undefined, reason: published ?? null, results };
  return { native, ok: published === undefined, steps };
};

/** The validators at the start of a transaction's run. */
export const validatorsOf = ({ tool, args }: Pick<Case['call'], 'tool' | 'args'>): { command: string }[] => {
  if (tool !== '$transaction') return [];
  return [{ command: parseArgs(argsSchema, args).validator === 'pass' ? 'true' : 'false' }];
};

/** @returns the reason when nothing was published; undefined after a publish */
async function publish({ bench: { system }, run }: Parameters<Special>[0]): Promise<string | undefined> {
  await run.finish();
  try {
    const { status } = await system.client.publish(run.id);
    return status === 'published' ? undefined : status;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}
