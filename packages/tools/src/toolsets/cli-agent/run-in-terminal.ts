import type { CommandResult, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { commandArgument, previewCommand } from '../../operations/command-argument.ts';
import { cutShort, type Failure, failure } from '../../operations/cut-short.ts';
import { builtInTool } from '../built-in-tool.ts';
import { settingsOf } from './settings.ts';

/** The return value of this contract's tools: the text for the model, the changed paths, and figures. */
export interface CliAgentValue {
  output: string;
  files_affected: readonly string[];
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export const success = (value: CliAgentValue, touched?: readonly string[]): ToolOutcome => ({
  status: 'succeeded',
  value,
  touched,
});

/** @param metadata the contract's record of a failed call. @param more data for later calls */
export const refused = (
  code: string,
  message: string,
  suggestion: string,
  metadata?: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Failure => failure(code, message, suggestion, metadata && { metadata, ...more });

export const runInTerminal = builtInTool({
  name: 'run_in_terminal',
  shell: true,
  description: 'Run a shell command in the working directory and return its output.',
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  label: 'dangerous',
  asks: true,
  input: z.strictObject({
    command: commandArgument()
      .refine((command) => command.trim() !== '', 'is empty')
      .describe('Shell command to run'),
    timeout_seconds: z.int().min(1).max(300).default(30).describe('Seconds after which the command is ended'),
  }),
  touches: ({ command }) => ({ command, cwd: '.' }),
  async execute(context, { command, timeout_seconds }) {
    const result = await context.run({
      argv: ['/bin/bash', '-c', command],
      limits: { wall_ms: timeout_seconds * 1000 },
      kept_bytes: settingsOf(context.settings).max_output_bytes,
      secrets: true,
    });
    return { ...outcome(result, { command, timeout_seconds }), capabilities: result.capabilities };
  },
  preview: async (context, { command }) => previewCommand(context, { command, cwd: '.' }),
});

type Ended = Exclude<ToolOutcome, { status: 'deferred' }>;

function outcome(
  { end, stdout, stderr }: CommandResult,
  { command, timeout_seconds }: { command: string; timeout_seconds: number },
): Ended {
  const lines = { stdout_lines: countLines(stdout.text), stderr_lines: countLines(stderr.text) };
  const cut = (stdout.truncated || stderr.truncated) && { truncated: true };
  const more = { printed: stdout.text + stderr.text };
  if (end.status === 'timed_out') {
    const message = `Command timed out after ${timeout_seconds} seconds`;
    const metadata = { exit_code: null, ...lines, ...cut };
    const failed = refused('ETIMEOUT', message, 'Raise timeout_seconds, or run less at once.', metadata, more);
    return { ...failed, status: 'timed_out' };
  }
  if (end.status !== 'exited')
    return { ...cutShort(end, 'Command'), value: { metadata: { exit_code: null, ...lines, ...cut }, ...more } };
  const { exit_code } = end;
  const metadata = { exit_code, ...lines, ...cut };
  if (exit_code === 0) {
    const errors = stderr.text === '' ? '' : `Errors:\n${stderr.text}`;
    const output = `Command output:\n${withNewline(stdout.text)}${errors}`;
    return success({ output, files_affected: [], metadata }) as Ended;
  }
  const unknown = exit_code === 127 ? unknownCommand(stderr.text) : undefined;
  if (unknown !== undefined) {
    const suggestion = 'Check the spelling, or install the program first.';
    return refused('ENOCOMMAND', `Command '${unknown}' not found`, suggestion, metadata, more);
  }
  const message = `Command failed with exit code ${exit_code}:\n${stderr.text}`;
  const suggestion = `Read the output of the command ${command.length > 80 ? '' : `${command} `}for the reason.`;
  return refused('EEXIT', message, suggestion, metadata, more);
}

const withNewline = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

const countLines = (text: string): number =>
  text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** bash names the missing program: `bash: line 1: name: command not found`. */
const unknownCommand = (stderr: string): string | undefined =>
  /^(?:\/bin\/)?bash: line \d+: (.*): (?:command not found|No such file or directory)$/m.exec(stderr)?.[1];
