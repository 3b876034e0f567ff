import type { CommandResult, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { previewCommand } from '../../operations/command-argument.ts';
import { cutShort, failure } from '../../operations/cut-short.ts';
import { placeholder } from '../../registry/fill-placeholders.ts';
import { textArgument } from '../../text-work/text.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { type SageSettings, settingsOf, timeoutOf } from './settings.ts';

/** Linux refuses a single argument of 128 KiB or more. */
const maxArgument = 100_000;
const word = textArgument
  .refine((text) => !text.includes('\0'), 'expected no NUL byte')
  .refine((text) => Buffer.byteLength(text) <= maxArgument, `longer than ${maxArgument} bytes`);
/** Bytes of all arguments and variables: Linux refuses 2 MiB. */
const maxWords = 1_800_000;

const input = z
  .strictObject({
    command: word
      .refine((command) => command.trim() !== '', 'the command is empty')
      .describe('A program, or without args a line for bash'),
    args: z.array(word).max(1000).optional().describe('Arguments of the program, which then runs without a shell'),
  })
  .refine(({ args = [] }) => args.reduce((bytes, one) => bytes + Buffer.byteLength(one) + 9, 0) <= maxWords, {
    path: ['args'],
    message: 'the arguments together are longer than Linux allows; write them to a file',
  });
type Args = z.output<typeof input>;

export const bash = builtInTool({
  name: 'Bash',
  shell: true,
  description: `Runs a program in an isolated sandbox, in the workspace and without a network. With args, the program gets exactly these arguments, and no shell reads them. Without, command is a line for bash, and every command in it has to be on the list of allowed programs.
Returns {stdout, stderr, exitCode}; every exit code is a result. There is no standard input. In a dry run nothing runs, and exitCode is null.`,
  version: '1.0.0',
  fillsPlaceholders: true,
  effect: 'workspace',
  risk: 'high',
  input,
  output: z.strictObject({
    stdout: z.string(),
    stderr: z.string(),
    exitCode: z.int().nullable().describe('null: a dry run ran nothing'),
  }),
  touches: (args) => ({ ...(isLine(args) ? { command: args.command } : { argv: wordsOf(args) }), cwd: '.' }),
  execute: runProgram,
  async preview({ secrets }, args) {
    const command = isLine(args) ? args.command : wordsOf(args).map(quoted).join(' ');
    return previewCommand({ network: undefined, secrets }, { command, cwd: '.' });
  },
});

async function runProgram(context: ToolContext, args: Args): Promise<ToolOutcome> {
  if (context.dryRun) {
    return { status: 'succeeded', value: { stdout: '', stderr: '', exitCode: null }, touched: [] };
  }
  const settings = settingsOf(context.settings);
  const { maxOutputBytes, maxCommandFileBytes, cpuSeconds } = settings.limits;
  const result = await context.run({
    ...filled(context, args, settings),
    network: false,
    secrets: true,
    kept_bytes: maxOutputBytes,
    over_output: 'kill',
    limits: {
      wall_ms: timeoutOf(settings, 'Bash'),
      output_bytes: maxOutputBytes,
      file_bytes: maxCommandFileBytes,
      cpu_seconds: cpuSeconds,
    },
  });
  return outcome(result, args);
}

/** The words of the sandbox, before any program has begun. */
const notFound = /^(?:\S*enter\.sh: line \d+: .*|bash: line 1: exec: .*): (?:not found|No such file or directory)\n$/;

/**
 * Program and variables with secrets in place of placeholders. In a line, a placeholder becomes a variable: the shell never parses the
 * value of a secret, and the line keeps the form judged by the gate.
 */
function filled({ placeholder: resolve }: ToolContext, args: Args, { env }: SageSettings) {
  if (!isLine(args)) {
    const words = wordsOf(args);
    const found =
      resolve === undefined
        ? words
        : words.map((word) => word.replaceAll(placeholder, (text, name: string) => resolve(name) ?? text));
    return { argv: found as typeof words, env };
  }
  if (resolve === undefined) return { argv: shell(args.command), env };
  const names = new Set([...args.command.matchAll(placeholder)].map(([, name = '']) => name));
  const secrets = Object.fromEntries([...names].map((name) => [`PLACEHOLDER_${name}`, resolve(name) ?? '']));
  const line = args.command.replaceAll(placeholder, (_, name: string) => `\${PLACEHOLDER_${name}}`);
  return { argv: shell(line), env: { ...env, ...secrets } };
}
const shell = (line: string): [string, ...string[]] => ['/bin/bash', '-c', line];

/** A single word without any meaning for a shell is a program. */
const isLine = ({ command, args }: Args): boolean => args === undefined && !/^[A-Za-z0-9_.+/-]+$/.test(command);
const wordsOf = ({ command, args = [] }: Args): [string, ...string[]] => [command, ...args];
const quoted = (text: string): string =>
  /^[A-Za-z0-9_.+/=:,@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function outcome({ end, stdout, stderr, capabilities }: CommandResult, args: Args): ToolOutcome {
  const printed = { stdout: stdout.text, stderr: stderr.text };
  if (end.status !== 'exited') {
    return { ...cutShort(end, 'The command'), value: { ...printed, exitCode: null }, capabilities };
  }
  const isMissing = end.exit_code === 127 && !isLine(args) && stdout.bytes === 0;
  if (isMissing && notFound.test(stderr.text)) {
    const value = { ...printed, exitCode: 127 };
    return {
      ...failure('ENOCOMMAND', `There is no program ${args.command} here.`, 'Use another one.', value),
      capabilities,
    };
  }
  return { status: 'succeeded', value: { ...printed, exitCode: end.exit_code }, capabilities };
}
