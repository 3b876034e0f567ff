import type { Json } from '@holdpoint/contract';
import { callArgs, parseArgs } from './args.ts';
import { makeCalls, type Special } from './special.ts';

/** The text for a person's decision. */
export const approvalText: Special = async (scene, args) => {
  const steps = await makeCalls(scene, [parseArgs(callArgs, args)]);
  const [approval] = scene.decider.asked as readonly { display?: Json }[];
  return { native: { display: approval?.display ?? null }, ok: approval !== undefined, steps };
};
