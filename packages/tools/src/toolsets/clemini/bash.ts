import type { CommandResult, Json, Problem, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { commandArgument, previewCommand, titleOf } from '../../operations/command-argument.ts';
import { cutShort, type Failure, failure } from '../../operations/cut-short.ts';
import { pathArgument, relativePath } from '../../operations/touched.ts';
import type { ToolContext } from '../../tool.ts';
import { asJson } from '../../toolset.ts';
import { builtInTool } from '../built-in-tool.ts';

export const cleminiSettings = z.strictObject({
  allowed_paths: z
    .array(pathArgument)
    .min(1)
    .max(100)
    .default(['.'])
    .describe(
      'Files and directories of the workspace that arguments may name, and what is below them, links resolved. A command is not bound by them, only the directory in which it starts',
    ),
  output_bytes: z
    .int()
    .min(1024)
    .max(1_000_000)
    .default(50_000)
    .describe('Bytes of each output stream of a command, and of a page, that a result shows'),
  task_output_bytes: z
    .int()
    .min(1024)
    .max(1_000_000)
    .default(1_000_000)
    .describe('Bytes of each output stream of a background task that a result shows'),
});

/** The settings of a call, with defaults. */
export const settingsOf = (settings: unknown): z.output<typeof cleminiSettings> =>
  cleminiSettings.parse(settings ?? {});

/** Directories of tools and builds, left out of searches. */
export const unsearchedFolders = ['.git', 'node_modules', 'target', '__pycache__', '.venv'] as const;

/**
 * Where a path of the arguments really leads, or the refusal of a path outside of the allowed paths. Throws the errors of `files.resolve`.
 */
export async function allowedPath(
  { files, settings, signal }: ToolContext,
  path: string,
): Promise<{ ok: true; real: string } | { ok: false; failure: Failure }> {
  // The root is no link, and needs no look.
  const real = relativePath(path) === '.' ? '.' : await files.resolve(path, signal);
  const { allowed_paths } = settingsOf(settings);
  if (allowed_paths.some((allowed) => isWithin(real, relativePath(allowed)))) return { ok: true, real };
  const message = `Access denied: ${path} is outside allowed paths.`;
  const refused = failure('EPATHNOTALLOWED', message, `Stay in ${allowed_paths.join(', ')}.`);
  return { ok: false, failure: { ...refused, touched: [] } };
}

const isWithin = (path: string, directory: string): boolean =>
  directory === '.' || path === directory || path.startsWith(`${directory}/`);

/** Seconds. */
const defaultTimeout = 120;
const mebibyte = 1024 * 1024;

const input = z.strictObject({
  command: commandArgument()
    .refine((command) => command.trim() !== '', 'is empty')
    .describe('Command for bash'),
  description: z.string().max(1000).optional().describe('What the command is for, in a few words'),
  working_directory: pathArgument.default('.').describe('Directory to run in (default: the current directory)'),
  timeout_seconds: z
    .int()
    .min(1)
    .max(604_800)
    .optional()
    .describe('Seconds after which it is ended (default: 120, and none in the background)'),
  confirmed: z.boolean().default(false).describe('The command was flagged, and is meant (default: false)'),
  run_in_background: z.boolean().default(false).describe('Return a task_id at once (default: false)'),
});
type Args = z.output<typeof input>;

export const bash = builtInTool({
  name: 'bash',
  shell: true,
  description:
    'Run a command with bash. Each call has a new shell; there is no terminal and no input. An exit code that is not 0 is a result, not an error. A command that may do harm has to be confirmed: it is flagged first, then repeated with confirmed. Returns: {stdout?, stderr?, exit_code?, task_id?, status?}',
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  input,
  output: z.union([
    z.strictObject({ stdout: z.string(), stderr: z.string(), exit_code: z.int() }),
    z.strictObject({ task_id: z.string(), status: z.literal('running') }),
  ]),
  touches: ({ command, working_directory, run_in_background }) => ({
    ...{ command, cwd: relativePath(working_directory) },
    ...(run_in_background && { background: true }),
  }),
  async execute(context, args) {
    const unconfirmed = await refuseUnconfirmed(context, args);
    if (unconfirmed !== undefined) return { ...unconfirmed, touched: [] };
    const { command, description, working_directory, timeout_seconds, run_in_background } = args;
    const allowed = await allowedPath(context, working_directory);
    if (!allowed.ok) return allowed.failure;
    // A missing directory is an error of the files; for the sandbox a missing directory would be a failed set-up, to be retried.
    if (allowed.real !== '.') await context.files.list(allowed.real, { limit: 1 }, context.signal);
    if (run_in_background) {
      const title = titleOf(description ?? command);
      const spec = { command, cwd: allowed.real, timeout_ms: timeout_seconds && timeout_seconds * 1000 };
      const value = { task_id: context.taskId, status: 'running' };
      return { status: 'succeeded', value, touched: [], task: { kind: 'shell', title, spec } };
    }
    const { output_bytes } = settingsOf(context.settings);
    const result = await context.run({
      argv: ['/bin/bash', '-c', command],
      cwd: allowed.real,
      limits: { wall_ms: (timeout_seconds ?? defaultTimeout) * 1000, output_bytes: 64 * mebibyte },
      kept_bytes: output_bytes,
      secrets: true,
    });
    return outcome(result);
  },
  async preview(context, { command, working_directory, run_in_background }) {
    const cwd = relativePath(working_directory);
    return previewCommand(context, { command, cwd, ...(run_in_background && { background: true }) });
  },
});

/** A model cannot confirm its own command: the command was flagged before, or a person let this very call run. */
async function refuseUnconfirmed({ caution, approved, past }: ToolContext, args: Args): Promise<Failure | undefined> {
  if (caution === undefined) return undefined;
  if (!args.confirmed) {
    const message = 'Command requires confirmation. Re-run with confirmed=true';
    return failure(flagged, message, 'Do so only if the command is meant.', { why: caution });
  }
  if (approved === true || (await wasFlagged(past, args))) return undefined;
  const message = 'Command blocked: it was confirmed before it was flagged.';
  return failure(
    'ESELFCONFIRMED',
    message,
    'Run it without confirmed first, then with confirmed and the same other arguments.',
    { why: caution },
  );
}

const flagged = 'ENEEDSCONFIRMATION';

/** Whether the same command was flagged before, with or without the same description. */
async function wasFlagged(past: ToolContext['past'], { description, ...args }: Args): Promise<boolean> {
  const asked = { ...args, confirmed: false };
  const candidates: Json[] = [asJson({ ...asked, description }), asJson(asked)];
  for (const one of candidates) if (await past.had({ tool: 'bash', args: one }, flagged)) return true;
  return false;
}

function outcome({ end, stdout, stderr, capabilities }: CommandResult): ToolOutcome {
  const printed = { stdout: shown(stdout), stderr: shown(stderr) };
  if (end.status === 'exited') {
    return { status: 'succeeded', value: { ...printed, exit_code: end.exit_code }, capabilities };
  }
  const cut = cutShort(end, 'The command');
  const error: Problem =
    end.status === 'timed_out' ? { ...cut.error, next: 'Raise timeout_seconds, or set run_in_background.' } : cut.error;
  return { ...cut, error, value: printed, capabilities };
}

const shown = ({ text, bytes, truncated }: CommandResult['stdout']): string =>
  truncated ? `${text}\n[truncated: ${bytes} bytes in all; the first and the last are shown]` : text;
