import { posix } from 'node:path';
import type { CommandResult, TaskView, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { commandArgument, previewCommand, titleOf } from '../../operations/command-argument.ts';
import { cutShort, type Failure, failure } from '../../operations/cut-short.ts';
import { isOver } from '../../operations/describe-task.ts';
import { pathArgument, relativePath } from '../../operations/touched.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';

const root = '/workspace';
const refusal = 'holdpoint: the working directory is missing or not allowed';
const refusedCode = 125;

/** The shell line of a command in the background: the line prints to a single stream, and changes to its directory first. */
function backgroundLine({
  command,
  working_directory = '.',
  directories,
}: {
  command: string;
  working_directory?: string | undefined;
  directories: readonly string[];
}): string {
  const lines = ['exec 2>&1'];
  if (working_directory !== '.' || !directories.map(relativePath).includes('.')) {
    const allowed = directories.map((one) => `${quote(posix.resolve(root, one))}/*`).join('|');
    const refuse = `{ echo ${quote(refusal)}; exit ${refusedCode}; }`;
    lines.push(
      `cd -P -- ${quote(posix.resolve(root, working_directory))} 2>/dev/null || ${refuse}`,
      `case "$PWD/" in ${allowed}) ;; *) ${refuse};; esac`,
    );
  }
  return [...lines, command].join('\n');
}

/** Whether the command never began. */
const refusedDirectory = ({ exit_code, output }: { exit_code: number | null; output: string }): boolean =>
  exit_code === refusedCode && output === `${refusal}\n`;

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const defaultExtensions =
  '.txt .md .markdown .go .py .js .ts .jsx .tsx .c .cpp .h .hpp .cc .cxx .java .kt .scala .clj .cljs .rb .php .swift .rs .zig .sh .bash .zsh .fish .json .yaml .yml .toml .xml .html .htm .css .scss .sass .sql .csv .tsv .ini .conf .config .cfg .log .gitignore .dockerignore .env .example';

const mebibyte = 1024 * 1024;

export const ryanSettings = z.strictObject({
  timeout_ms: z
    .int()
    .min(1)
    .max(604_800_000)
    .default(30_000)
    .describe('Milliseconds after which execute_bash kills a command. The limits of the run bind as well'),
  max_output_bytes: z
    .int()
    .min(1024)
    .max(8 * mebibyte)
    .default(mebibyte)
    .describe('Bytes of the output of execute_bash that are kept: of more, the first and the last half'),
  directories: z
    .array(pathArgument)
    .min(1)
    .max(100)
    .default(['.'])
    .describe('Directories of the workspace in which commands may start and files may be read, links resolved'),
  extensions: z
    .array(z.string().min(2).max(50).startsWith('.'))
    .min(1)
    .max(500)
    .default(defaultExtensions.split(' '))
    .describe('Extensions of the files that read_file reads, in lower case, with their dot'),
  max_file_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('read_file refuses larger files'),
  max_lines: z.int().min(1).max(1_000_000).default(10_000).describe('read_file refuses to return more lines'),
});
export type RyanSettings = z.output<typeof ryanSettings>;

/** The settings of a call, with defaults. */
export const settingsOf = (settings: unknown): RyanSettings => ryanSettings.parse(settings ?? {});

/** Whether a real path, relative to the workspace root, lies in a directory permitted by the settings. */
export const isAllowed = (path: string, { directories }: RyanSettings): boolean =>
  directories.map(relativePath).some((one) => one === '.' || path === one || path.startsWith(`${one}/`));

/** The error of the contract for a path elsewhere. */
export const notAllowed = (path: string, { directories }: RyanSettings) => ({
  code: 'EPATHNOTALLOWED',
  message: `security: ${path} is not in an allowed directory`,
  next: `Stay in ${directories.join(', ')}.`,
});

/** Bytes. For a concurrent command, the line with the check of the directory is an argument, too. */
const maxCommand = 90_000;

const input = z.strictObject({
  command: commandArgument({ most: maxCommand })
    .refine((command) => command.trim() !== '', 'the command is empty')
    .describe('The bash command to execute'),
  working_directory: pathArgument
    .optional()
    .describe('Directory in which the command runs. Default: the workspace root'),
});
type Args = z.output<typeof input>;

export const executeBash = builtInTool({
  name: 'execute_bash',
  shell: true,
  description:
    'Executes a bash command in the workspace and returns its combined output. Dangerous commands are refused, and a command that runs too long is ended.',
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  input,
  touches: ({ command, working_directory = '.' }) => ({ command, cwd: relativePath(working_directory) }),
  async execute(context, { command, working_directory = '.' }) {
    const settings = settingsOf(context.settings);
    const refused = await refuseDirectory(context, working_directory, settings);
    if (refused !== undefined) return refused;
    return outcome(
      await context.run({
        argv: ['/bin/bash', '-c', command],
        cwd: relativePath(working_directory),
        limits: { wall_ms: settings.timeout_ms },
        streams: 'combined',
        kept_bytes: settings.max_output_bytes,
        secrets: true,
      }),
    );
  },
  beside: {
    task({ command, working_directory }, given) {
      const { directories, timeout_ms } = settingsOf(given);
      const spec = { command: backgroundLine({ command, working_directory, directories }), timeout_ms };
      return { kind: 'shell', title: titleOf(command), spec };
    },
    settle: settleBeside,
  },
  async preview(context, { command, working_directory = '.' }) {
    return previewCommand(context, { command, cwd: relativePath(working_directory) });
  },
});

/**
 * A missing directory, or a directory outside, is an error of the files; for the sandbox a missing directory would be a failed set-up, to
 * be retried.
 */
async function refuseDirectory(context: ToolContext, path: string, settings: RyanSettings) {
  const real = await context.files.resolve(path, context.signal);
  if (!isAllowed(real, settings)) return { status: 'failed' as const, error: notAllowed(path, settings), touched: [] };
  await context.files.list(path, { limit: 1 }, context.signal);
  return undefined;
}

function outcome({ end, stdout, capabilities }: CommandResult): ToolOutcome {
  const { text: output, bytes, truncated } = stdout;
  const printed = { output, bytes, truncated };
  if (end.status !== 'exited') {
    return { ...cutShort(end, 'command'), value: { exit_code: null, ...printed }, capabilities };
  }
  const { exit_code } = end;
  if (exit_code === 0) return { status: 'succeeded', value: { exit_code, ...printed }, capabilities };
  return { ...exited(exit_code, printed), capabilities };
}

const exited = (exit_code: number, printed: object): Failure =>
  failure('EEXIT', `command failed with exit code ${exit_code}`, 'Read the output for the reason.', {
    exit_code,
    ...printed,
  });

/** The outcome of a concurrent command. */
async function settleBeside(context: ToolContext, args: Args, task: TaskView): Promise<ToolOutcome> {
  if (!isOver(task)) throw new Error(`the command ${task.id} still runs`);
  const settings = settingsOf(context.settings);
  const { max_output_bytes: most } = settings;
  const printed = await readOutput(context, task.id, most);
  const { exit_code = null, reason } = task.outcome ?? {};
  if (task.status === 'completed') return { status: 'succeeded', value: { exit_code, ...printed } };
  const { working_directory = '.' } = args;
  if (refusedDirectory({ exit_code, ...printed }))
    return { status: 'failed', error: notAllowed(working_directory, settings) };
  if (exit_code !== null) return exited(exit_code, printed);
  const error = reason ?? { code: 'EKILLED', message: 'command was killed' };
  const status = task.status === 'timed_out' ? 'timed_out' : task.status === 'failed' ? 'failed' : 'killed';
  return { status, error, value: { exit_code, ...printed } };
}

/** The whole output, or its first and last half. */
async function readOutput({ tasks }: ToolContext, id: string, most: number) {
  const first = await tasks.output(id, { stream: 'stdout', from: 0, maxBytes: most });
  if (first.total <= most) return { output: first.text, bytes: first.total, truncated: first.omitted > 0 };
  const half = Math.floor(most / 2);
  const [begin, end] = await Promise.all([
    tasks.output(id, { stream: 'stdout', from: 0, maxBytes: half }),
    tasks.output(id, { stream: 'stdout', from: first.total - half, maxBytes: half }),
  ]);
  return { output: `${begin.text}\n…\n${end.text}`, bytes: first.total, truncated: true };
}
