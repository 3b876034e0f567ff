import { nearestNames, type Problem } from '@holdpoint/contract';
import type { z } from 'zod';
import { ToolsError } from '../errors.ts';
import type { Tool } from '../tool.ts';
import type { Toolset } from '../toolset.ts';
import { type ArgumentIssue, invalid, invalidArgs, pointer } from './check-settings.ts';

const mostValues = 20_000;
/** More than the limit of any tool for a text: each tool refuses with its own error. */
const mostChars = 16 * 1024 * 1024;
const deepest = 100;

/**
 * The reason why arguments are too large for any tool; undefined when they are not. A schema reports an issue for each value: a million
 * issues took 4 s.
 */
export function boundArgs(args: unknown): ArgumentIssue | undefined {
  let values = 0;
  let chars = 0;
  const level: { value: unknown; path: string[] }[] = [{ value: args, path: [] }];
  for (let next = level.pop(); next !== undefined; next = level.pop()) {
    const { value, path } = next;
    if (typeof value === 'string') chars += value.length;
    if (chars > mostChars) return { pointer: pointer(path), detail: `more than ${mostChars} characters in all` };
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= deepest) return { pointer: pointer(path), detail: `nested more than ${deepest} deep` };
    const tooMany = { pointer: pointer(path), detail: `more than ${mostValues} values in all` };
    // Checked before the walk over the keys, because the walk is slow for a million keys.
    if (Array.isArray(value) && value.length > mostValues) return tooMany;
    for (const key in value) {
      values += 1;
      chars += key.length;
      if (values > mostValues) return tooMany;
      level.push({ value: (value as Record<string, unknown>)[key], path: [...path, key] });
    }
  }
  return undefined;
}

export interface ToolCall {
  toolset: string;
  tool: string;
  args: unknown;
}

export type FoundTool =
  | { ok: true; tool: Tool; args: unknown }
  | { ok: false; error: Problem; issues: ArgumentIssue[] };

/** The tool of a call with its parsed arguments, or why there is none. */
export function findTool(byName: ToolIndex, call: ToolCall): FoundTool {
  const tools = byName.get(call.toolset);
  if (!tools) return { ok: false, error: unknownToolset(call.toolset, byName), issues: [] };
  const tool = tools.get(call.tool);
  if (!tool) return { ok: false, error: unknownTool(call, [...tools.keys()]), issues: [] };
  const unbounded = boundArgs(call.args);
  if (unbounded !== undefined) return { ok: false, ...invalid(call.tool, [unbounded]) };
  let parsed: z.ZodSafeParseResult<unknown>;
  try {
    parsed = tool.input.safeParse(call.args);
  } catch (error) {
    // For example an asynchronous schema in a tool of a module.
    const detail = `the schema of ${call.tool} cannot check them: ${error instanceof Error ? error.message : error}`;
    return { ok: false, ...invalid(call.tool, [{ pointer: '', detail }]) };
  }
  return parsed.success
    ? { ok: true, tool, args: parsed.data }
    : { ok: false, ...invalidArgs(call.tool, parsed.error) };
}

export function unknownToolset(toolset: string, byName: ToolIndex): Problem {
  return {
    code: 'EUNKNOWNTOOLSET',
    message: `There is no toolset named "${toolset.slice(0, 100)}".`,
    next: `Use one of: ${[...byName.keys()].join(', ')}.`,
  };
}

function unknownTool({ tool, toolset }: ToolCall, names: readonly string[]): Problem {
  return {
    code: 'EUNKNOWNTOOL',
    message: `The toolset "${toolset}" has no tool named "${tool.slice(0, 100)}".`,
    next: `Nearest: ${nearestNames(tool, names).join(', ')}. All: ${names.join(', ')}.`,
  };
}

/** Tools by the name of their toolset and their own name. */
export type ToolIndex = ReadonlyMap<string, ReadonlyMap<string, Tool>>;

/** @throws ToolsError `EINVALIDTOOL` when two toolsets have the same name */
export function indexToolsets(toolsets: readonly Toolset[]): ToolIndex {
  const index = new Map<string, Map<string, Tool>>();
  for (const { name, tools } of toolsets) {
    if (index.has(name)) {
      throw new ToolsError('EINVALIDTOOL', `Two toolsets are named "${name}".`, 'Rename one of them.');
    }
    index.set(name, new Map(tools.map((tool) => [tool.name, tool])));
  }
  return index;
}
