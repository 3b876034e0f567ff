import type { Json } from '@holdpoint/contract';
import { z } from 'zod';
import { callArgs, parseArgs } from './args.ts';
import { makeCalls, type Special } from './special.ts';

/** Calls started together; their results in order. */
export const startedTogether: Special = async (scene, args) => {
  const { calls } = parseArgs(z.strictObject({ calls: z.array(callArgs).min(1) }), args);
  const steps = await makeCalls(scene, calls, { concurrent: true });
  const native = steps.map(({ result }) => result);
  return { native, ok: native.every((one) => scene.adapter.ok(one)), steps };
};

/** The same call several times, in sequence. */
export const repeated: Special = async (scene, args) => {
  const { times, ...call } = parseArgs(callArgs.extend({ times: z.int().min(2) }), args);
  const steps = [];
  for (let time = 0; time < times; time++) steps.push(...(await makeCalls(scene, [call])));
  const results = steps.map(({ result }) => result);
  const [first, ...others] = results.map((result) => JSON.stringify(result));
  const native: Json = { identical: others.every((other) => other === first), results };
  return { native, ok: true, steps };
};
