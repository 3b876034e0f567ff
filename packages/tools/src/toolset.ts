import { isDeepStrictEqual } from 'node:util';
import type { Json, Modes, PolicyRule, SettledCall } from '@holdpoint/contract';
import type { z } from 'zod';
import { ToolsError } from './errors.ts';
import type { Tool } from './tool.ts';
import type { ToolDefinition } from './tool-definition.ts';

export interface Toolset {
  name: string;
  tools: readonly Tool[];
  /** Whether `$ENV.NAME` in arguments stands for a secret of the run. @default false */
  placeholders?: boolean;
  /** The settings of the toolset in a run: a strict object with a default for each field. @default nothing */
  settings?: z.ZodObject;
  /** Permissions of a run without permissions of its own. @default no limit but the policy */
  permissions?: readonly string[];
  /** Paths protected from every call of the toolset, in addition to the run's paths. */
  protected?: readonly string[];
  /** Its contract's own rules: the gate judges each call by them, too, and the strictest verdict counts. */
  rules?: readonly PolicyRule[] | ((run: RuledRun) => readonly PolicyRule[]);
  /**
   * Rules for calls allowed by the contract without a question, by the settings of a run: where such a rule allows, the built-in rules hold
   * nothing. @default none
   */
  auto?(run: RuledRun): readonly PolicyRule[];
  /** The careful calls of the contract. `caution` in the context names the matching caution to the tool. */
  cautions?: readonly Caution[];
  /** The arguments of its tools that a remembered decision leaves out. @default none */
  advisory?: Readonly<Record<string, Advisory>>;
  /** Names of the tools whose every call asks, under the settings of a run. @default tools with `asks: true` */
  asking?(settings: unknown): readonly string[];
  /** Names of the tools that a model is not offered. They can be called. @default none */
  withholds?(run: OfferedRun): readonly string[];
  /** Text for a model before its prompt: the contract's own guidance, or a guidance that depends on the tools of the run. */
  instructions?: string | ((has: (tool: string) => boolean) => string);
  /** The contract's result of a settled call, for every way to settle. Pure. @default the value, or `{status, error, value?}` */
  present?(call: SettledCall): Json;
  /** The text for a person's decision, in the contract's words: `display` of the approval. @default none */
  approvalText?(call: AskedCall): string;
  /**
   * Forms of its tools for models and clients, in addition to openai, anthropic, ollama and mcp. A form of the same name comes first; null:
   * no form of this name.
   */
  forms?: Readonly<Record<string, ((tools: readonly ToolDefinition[]) => readonly Json[]) | null>>;
}

/** Facts of a run for the choice of the tools that its model is offered. */
export interface OfferedRun {
  settings: unknown;
  /** `provider/model` */
  model: string;
  /** Whether the run began in plan mode. */
  plans: boolean;
  /** Whether the run keeps notes for later runs. */
  remembers: boolean;
}

/** The description of a careful call, in the words of a policy. A caution decides nothing. */
export type Caution = Pick<PolicyRule, 'name' | 'match' | 'surely'> & { reason: string };

/** Arguments of a tool, by name, that do not change the effect of a call. */
export interface Advisory {
  /** Words for people, for example a description of the call. */
  words?: readonly string[];
  /** Time limits. A limit decides how far a command comes, so only a call whose commands all just read has the same effect under each. */
  limits?: readonly string[];
}

/** The inputs of a toolset's rules. */
export interface RuledRun {
  /** The toolset's own. undefined: no run, so the defaults. */
  settings: unknown;
  modes: Modes | undefined;
}

/** A call in wait for a decision. */
export interface AskedCall {
  tool: string;
  args: Json;
  /** The contract's word for the tool's risk. */
  label: string;
  /** Paths to write or delete, in the words of the arguments. */
  files: readonly string[];
}

/**
 * @throws ToolsError `EINVALIDTOOL` when two tools have the same name, a tool of `holdpoint` is not in snake_case, or the settings are not strict
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
    if (toolset.name === 'holdpoint' && !snakeCase.test(name) && !name.startsWith('mcp__')) {
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

/** Copies a toolset's return value as JSON. @throws TypeError for any value but JSON */
export function asJson(value: unknown): Json {
  if (value instanceof Promise) throw new TypeError('expected a JSON value and got a promise');
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`expected a JSON value and got ${typeof value}`);
  return JSON.parse(text);
}

/** The value of a successful call; for every other end the status, the error and the tool's value. */
export function presentPlainly({ status, value, error }: SettledCall): Json {
  if (status === 'succeeded') return value ?? null;
  return { status, ...(error && { error: { ...error } as Json }), ...(value === undefined ? {} : { value }) };
}
