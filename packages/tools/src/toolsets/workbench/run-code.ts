import type { CommandResult, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { previewCommand } from '../../operations/command-argument.ts';
import { cutShort, failure } from '../../operations/cut-short.ts';
import { textArgument } from '../../text-work/text.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { workbenchSettings } from './read-file.ts';

const withoutNul = textArgument.refine((text) => !text.includes('\0'), 'expected no NUL byte');
/** Linux refuses an argument of 128 KiB, and 2 MiB of arguments and variables together. */
const maxArgument = 30_000;

const input = z
  .strictObject({
    language: z.enum(['python', 'bash']).describe('What interprets the code'),
    code: withoutNul.describe('The program'),
    args: z.array(withoutNul.max(maxArgument)).max(1000).default([]).describe('Arguments of the program'),
    env: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected letters, digits and `_`'),
        withoutNul.max(maxArgument),
      )
      .default({})
      .describe('Variables of the program'),
    timeout: z.number().positive().max(86_400).default(60).describe('Seconds after which it is killed'),
  })
  .refine(({ args, env }) => words(args, env) <= maxWords, {
    path: ['args'],
    message: 'the arguments and variables together are longer than Linux allows; write them to a file',
  });

/** Bytes. The kernel counts a pointer and a NUL for each string. */
const maxWords = 1_900_000;
const words = (args: readonly string[], env: Readonly<Record<string, string>>): number =>
  [...args, ...Object.entries(env).map((entry) => entry.join('='))].reduce(
    (total, word) => total + Buffer.byteLength(word) + 9,
    0,
  );

export const runCode = builtInTool({
  name: 'run_code',
  description: `Runs a program in Python or bash in an isolated sandbox. It starts in the workspace and sees its files and the system's programs. Returns {stdout, stderr, exitCode, duration}; duration is in milliseconds. Every exit code is a result. There is no standard input, and no network unless the run's settings open it.`,
  // Without its settings, the code of a run with a network may reach the network.
  effect: (_args, { network, settings }) =>
    network && workbenchSettings.parse(settings ?? { code_network: true }).code_network ? 'external' : 'workspace',
  risk: 'high',
  input,
  output: z.strictObject({ stdout: z.string(), stderr: z.string(), exitCode: z.int() }),
  touches: ({ language, code, args }) =>
    language === 'bash' ? { command: code, cwd: '.' } : { argv: ['python3', '-', ...args], cwd: '.' },
  execute: runProgram,
  async preview({ network, settings, secrets }, { code }) {
    const reached = workbenchSettings.parse(settings).code_network ? network : undefined;
    return previewCommand({ network: reached, secrets }, { command: code, cwd: '.' });
  },
});

async function runProgram(context: ToolContext, args: z.output<typeof input>): Promise<ToolOutcome> {
  const { output_bytes: bytes, code_network: network } = workbenchSettings.parse(context.settings);
  const result = await context.run({
    argv: [...interpreters[args.language], ...args.args],
    env: args.env,
    stdin: args.code,
    network,
    kept_bytes: bytes,
    over_output: 'kill',
    limits: { wall_ms: Math.ceil(args.timeout * 1000), output_bytes: bytes },
    secrets: true,
  });
  return outcome(result, args.language);
}

/**
 * The code comes from standard input, because an argument has less than 128 KiB. bash would share its standard input with the commands of
 * the code, so its code becomes a file in the command's own /tmp first. python reads the whole code before running, and finds modules in
 * the workspace.
 */
const interpreters: Record<'python' | 'bash', [string, ...string[]]> = {
  python: ['python3', '-'],
  bash: ['/bin/bash', '-c', '/bin/cat >/tmp/code && exec /bin/bash /tmp/code "$@" </dev/null', 'bash'],
};

function outcome({ end, stdout, stderr, capabilities }: CommandResult, language: 'python' | 'bash'): ToolOutcome {
  const printed = { stdout: stdout.text, stderr: stderr.text };
  if (end.status !== 'exited') return { ...cutShort(end, 'The program'), value: printed, capabilities };
  // The words of the sandbox: no program can print them before its begin.
  if (end.exit_code === 127 && language === 'python' && stderr.text.endsWith('python3: not found\n')) {
    return { ...failure('ENOINTERPRETER', 'There is no Python on this host.', 'Use bash.', printed), capabilities };
  }
  return { status: 'succeeded', value: { ...printed, exitCode: end.exit_code }, capabilities };
}
