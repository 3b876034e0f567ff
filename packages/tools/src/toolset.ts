import { isDeepStrictEqual } from 'node:util';
import type { Json, Modes, PolicyRule, SettledCall } from '@holdpoint/contract';
import type { z } from 'zod';
import { ToolsError } from './errors.ts';
import { asJson } from './registry/as-json.ts';
import { presentPlainly } from './registry/present-plainly.ts';
import type { Tool } from './tool.ts';
import type { ToolDefinition } from './tool-definition.ts';

export interface Toolset {
  name: string;
  tools: readonly Tool[];
  /** Whether `$ENV.NAME` in arguments stands for a secret of the run. @default false */
  placeholders?: boolean;
  /** What a run may set of it: a strict object with a default for each field. @default nothing */
  settings?: z.ZodObject;
  /** Permissions of a run that names none. @default no limit beside the policy */
  permissions?: readonly string[];
  /** Paths that no call of it may change, beside those of the run. */
  protected?: readonly string[];
  /** Its contract's own rules: the gate judges each call by them, too, and the strictest verdict counts. */
  rules?: readonly PolicyRule[] | ((run: RuledRun) => readonly PolicyRule[]);
  /** What its contract lets run by itself, by the settings of a run: where one of these allows, the built-in rules hold nothing. @default none */
  auto?(run: RuledRun): readonly PolicyRule[];
  /** Calls that its contract is careful with. A tool learns from `caution` of its context that one of these matches its call. */
  cautions?: readonly Caution[];
  /** Names of the tools whose every call asks, under the settings of a run. @default those whose `asks` is true */
  asking?(settings: unknown): readonly string[];
  /** What a model reads before its prompt: the contract's own guidance. */
  instructions?: string;
  /** The contract's result of a settled call, whatever settled it. Pure. @default the value, or `{status, error, value?}` */
  present?(call: SettledCall): Json;
  /** What a person reads before deciding, in the contract's words: `display` of the approval. @default none */
  approvalText?(call: AskedCall): string;
  /** Forms of its tools for models and clients, beside openai, anthropic, ollama and mcp. A form of the same name comes first; null: it has none of that name. */
  forms?: Readonly<Record<string, ((tools: readonly ToolDefinition[]) => readonly Json[]) | null>>;
}

/** What a call is like, in the words of a policy. It decides nothing. */
export type Caution = Pick<PolicyRule, 'name' | 'match' | 'surely'> & { reason: string };

/** What the rules of a toolset may depend on. */
export interface RuledRun {
  /** The toolset's own. undefined: those of no run, so the defaults. */
  settings: unknown;
  modes: Modes | undefined;
}

/** A call that waits for a decision. */
export interface AskedCall {
  tool: string;
  args: Json;
  /** The contract's word for the tool's risk. */
  label: string;
  /** Paths that it would write or delete, as its arguments name them. */
  files: readonly string[];
}

/**
 * @throws ToolsError `EINVALIDTOOL` when two tools have one name, a tool of `holdpoint` is not in snake_case, or the settings are not strict
 * with a default for each field
 */
export function defineToolset(toolset: Toolset): Toolset & Required<Pick<Toolset, 'present'>> {
  const seen = new Set<string>();
  for (const { name } of toolset.tools) {
    if (seen.has(name)) {
      throw new ToolsError(
        'EINVALIDTOOL',
        `The toolset "${toolset.name}" has two tools named "${name}".`,
        'Rename one of them or leave it out.',
      );
    }
    if (toolset.name === 'holdpoint' && !snakeCase.test(name)) {
      throw new ToolsError('EINVALIDTOOL', `The tool "${name}" of holdpoint is not in snake_case.`, 'Rename it.');
    }
    seen.add(name);
  }
  const mistake = toolset.settings && mistakeInSettings(toolset.settings);
  if (mistake !== undefined) {
    const message = `The settings of the toolset "${toolset.name}" cannot be used: ${mistake}.`;
    throw new ToolsError('EINVALIDTOOL', message, 'Use z.strictObject with JSON values and a default for each field.');
  }
  return { present: presentPlainly, ...toolset };
}

function mistakeInSettings(settings: z.ZodObject): string | undefined {
  if (settings.def.catchall?._zod.def.type !== 'never') return 'they accept unknown names';
  const defaults = settings.safeParse({});
  if (!defaults.success) return `a field has no default (${defaults.error.issues[0]?.path.join('.')})`;
  // They are recorded as JSON and read again.
  const again = settings.safeParse(asJson(defaults.data));
  return again.success && isDeepStrictEqual(again.data, defaults.data) ? undefined : 'they are not JSON values';
}
const snakeCase = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
