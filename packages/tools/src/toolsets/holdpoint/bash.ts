import type { CommandResult } from '@holdpoint/sandbox/port';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolOutcome } from '../../tool.ts';
import { cutShort } from './cut-short.ts';
import { failure } from './failure.ts';
import { pathArgument, relativePath } from './path-argument.ts';

/** Linux refuses a single argument of 128 KiB or more. */
const MAX_COMMAND = 100_000;

const input = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((command) => !command.includes('\0'), 'a command has no NUL byte')
    .refine(
      (command) => Buffer.byteLength(command) <= MAX_COMMAND,
      `longer than ${MAX_COMMAND} bytes; write a script file and run that`,
    )
    .describe('Line or script for bash -c'),
  timeout_s: z.int().min(1).max(600).default(120).describe('Seconds after which it is killed'),
  cwd: pathArgument.default('.').describe('Directory to run in, relative to the workspace root'),
});

export const bash = defineTool({
  name: 'bash',
  description: `Runs a command with bash in an isolated sandbox: it sees the workspace (/workspace) and the system's programs, and has no network. Returns {exit_code, signal, stdout, stderr, stdout_bytes, stderr_bytes, stdout_truncated, stderr_truncated, duration_ms}.
A non-zero exit code is reported as EEXIT together with the output. Every call starts anew: variables, the current directory and background processes do not outlive it; only files of the workspace do. There is no terminal and no standard input. Of a long output the first and last 32 KiB are returned.
For reading, searching and changing files prefer read_file, grep, glob, edit and write_file.`,
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  input,
  async execute(context, { command, timeout_s, cwd }) {
    // Tells a directory that is missing or outside as data; to the sandbox it would be a set-up that failed, and be tried again.
    if (relativePath(cwd) !== '.') await context.files.list(cwd, { limit: 1 }, context.signal);
    const limits = { wall_ms: timeout_s * 1000 };
    return outcome(await context.run({ argv: ['/bin/bash', '-c', command], cwd: relativePath(cwd), limits }));
  },
  async preview(_context, { command, cwd }) {
    return { kind: 'command', command, cwd: relativePath(cwd), network: false };
  },
});

function outcome(result: CommandResult): ToolOutcome {
  const { end, stdout, stderr, duration_ms, capabilities } = result;
  const output = {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    stdout_truncated: stdout.truncated,
    stderr_truncated: stderr.truncated,
    duration_ms,
  };
  if (end.status !== 'exited') {
    return { ...cutShort(end, 'The command'), value: { exit_code: null, signal: null, ...output }, capabilities };
  }
  const { exit_code, signal } = end;
  const value = { exit_code, signal, ...output };
  if (exit_code === 0 && signal === null) return { status: 'succeeded', value, capabilities };
  const message = signal === null ? `exit code ${exit_code}` : `ended by ${signal}`;
  return { ...failure('EEXIT', message, 'Read stderr and stdout for the reason.', value), capabilities };
}
