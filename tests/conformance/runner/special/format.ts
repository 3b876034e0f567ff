import type { Json } from '@holdpoint/contract';
import { humanForm, jsonForm } from '@holdpoint/tools/cli-agent';
import { z } from 'zod';
import { callArgs, parseArgs } from './args.ts';
import { makeCalls, type Special } from './special.ts';

/** What the contract prints of a call. */
export const printed: Special = async (scene, args) => {
  const { format, ...call } = parseArgs(callArgs.extend({ format: z.enum(['human', 'json']) }), args);
  const steps = await makeCalls(scene, [call]);
  const result = steps[0]?.result ?? null;
  const native: Json =
    format === 'human'
      ? { text: humanForm(result, { directory: '/workspace' }) }
      : JSON.parse(jsonForm(result, { tool: call.tool }));
  return { native, ok: scene.adapter.ok(result), steps };
};
