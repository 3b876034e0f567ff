import { type ReasoningEffort, reasoningEffortSchema } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { readYaml } from '@holdpoint/policy';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { readText } from '../../deciding/read-text.ts';
import { CliError, count, type Shell, several } from '../../shell/index.ts';
import { readImage } from './read-image.ts';

/** The prompt of a run, with its options. */
export interface GoalOptions {
  promptFile?: string;
  model?: string;
  system?: string;
  systemFile?: string;
  /** False: `--no-instructions`. */
  instructions?: boolean;
  fallback?: string[];
  maxOutputTokens?: number;
  temperature?: number;
  effort?: ReasoningEffort;
  outputSchema?: string;
  image?: string[];
}

type ModelGoal = Pick<
  CreateRun,
  'prompt' | 'model' | 'system' | 'instructions' | 'images' | 'fallbacks' | 'options' | 'output_schema'
>;

export const withGoalOptions = (command: Command): Command =>
  command
    .option('--prompt-file <file>', 'the prompt, from a file; - reads standard input')
    .option('--model <provider/model>', 'model for a prompt (default: HOLDPOINT_MODEL of the server)')
    .option(
      '--fallback <provider/model>',
      'a model to ask while the one before it cannot be reached; may be repeated',
      several,
    )
    .addOption(new Option('--system <text>', 'instructions, before those of the workspace').conflicts('systemFile'))
    .option('--system-file <file>', 'the same, from a file')
    .option('--no-instructions', 'without those of the workspace (AGENTS.md, CLAUDE.md)')
    .option('--max-output-tokens <n>', 'tokens that one answer may have (default: those of the model)', count)
    .option('--temperature <number>', 'between 0 and 2, for models that take one', temperature)
    .addOption(
      new Option('--effort <level>', 'how much the model thinks (default: its own)').choices(
        reasoningEffortSchema.options,
      ),
    )
    .option('--output-schema <file>', 'JSON Schema that the final answer has to fit, in JSON or YAML')
    .option('--image <file>', 'an image of the prompt: PNG, JPEG, WebP or GIF; may be repeated', several);

function temperature(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 2) return value;
  throw new InvalidArgumentError('Expected a number between 0 and 2.');
}

/** The prompt of the command line. `-` is standard input. @throws CliError `usage` */
export async function promptOf(
  shell: Shell,
  argument: string | undefined,
  { promptFile }: GoalOptions,
): Promise<string | undefined> {
  if (argument !== undefined && promptFile !== undefined) {
    throw new CliError('usage', 'Give the prompt once: in quotes, or with --prompt-file.');
  }
  const text =
    argument === '-' || promptFile === '-'
      ? await shell.readInput()
      : promptFile === undefined
        ? argument
        : await readText(shell.config.cwd, promptFile);
  if (text?.trim() === '') throw new CliError('usage', 'The prompt is empty.');
  return argument === undefined || argument === '-' ? text?.trimEnd() : text;
}

/** The fields for a prompt. Fields without an option are absent. @throws CliError `usage` */
export async function goalOf(shell: Shell, prompt: string | undefined, options: GoalOptions): Promise<ModelGoal> {
  const { cwd } = shell.config;
  const { model, system, systemFile, fallback, maxOutputTokens, temperature, effort, outputSchema, image } = options;
  const isAsked = [maxOutputTokens, temperature, effort].some((option) => option !== undefined);
  return {
    prompt,
    model,
    system: systemFile === undefined ? system : await readText(cwd, systemFile),
    instructions: options.instructions === false ? false : undefined,
    fallbacks: fallback,
    options: isAsked ? { max_output_tokens: maxOutputTokens, temperature, reasoning_effort: effort } : undefined,
    output_schema: outputSchema === undefined ? undefined : await readSchema(cwd, outputSchema),
    images: image && (await Promise.all(image.map((file) => readImage(cwd, file)))),
  };
}

/** @throws CliError `usage` */
async function readSchema(cwd: string, file: string): Promise<NonNullable<ModelGoal['output_schema']>> {
  const read = readYaml(await readText(cwd, file));
  const value = read.ok ? jsonObjectSchema.safeParse(read.value).data : undefined;
  if (value !== undefined) return value;
  throw new CliError(
    'usage',
    `${file} ${read.ok ? 'is not a JSON Schema: it has to be an object.' : `cannot be read: ${read.detail}`}`,
  );
}

const jsonObjectSchema = z.record(z.string(), z.json());
