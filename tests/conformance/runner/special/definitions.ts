import { ApiError } from '@holdpoint/client';
import type { Json } from '@holdpoint/contract';
import { z } from 'zod';
import { isObject } from '../match.ts';
import { parseArgs } from './args.ts';
import type { Made, Scene, Special } from './special.ts';

/** The tools as a provider wants them, by name. */
export const definitions: Special = (scene, args) =>
  inForm(scene, parseArgs(z.strictObject({ provider: z.string() }), args).provider);

export const openAIFunctions: Special = (scene) => inForm(scene, 'openai-functions');

export const descriptions: Special = async ({ bench, toolset }) => {
  const tools = await bench.system.client.listTools({ toolset });
  return { native: Object.fromEntries(tools.map(({ name, description }) => [name, description])), ok: true, steps: [] };
};

async function inForm({ bench, toolset }: Scene, format: string): Promise<Made> {
  try {
    const { tools } = await bench.system.client.getToolset(toolset, { format: format });
    return { native: Object.fromEntries(tools.map((tool) => [nameOf(tool), tool])), ok: true, steps: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const detail = [error.detail, ...error.errors.map((one) => one.detail)].join('; ');
    return { native: { success: false, error: detail }, ok: false, steps: [] };
  }
}

const nameOf = (tool: Record<string, Json>): string => String(isObject(tool.function) ? tool.function.name : tool.name);
