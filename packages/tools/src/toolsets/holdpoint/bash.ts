import { z } from 'zod';
import { commandArgument, previewCommand, titleOf } from '../../operations/command-argument.ts';
import { failure } from '../../operations/cut-short.ts';
import { runCommand } from '../../operations/run-command.ts';
import { pathArgument, relativePath } from '../../operations/touched.ts';
import { renderCommand } from '../../result-text/command-output.ts';
import { builtInTool } from '../built-in-tool.ts';

const defaultTimeoutS = 120;
const maxTimeoutS = 600;

const input = z.strictObject({
  command: commandArgument({ instead: '; write a script file and run that' })
    .min(1)
    .describe('Line or script for bash -c'),
  timeout_s: z
    .int()
    .min(1)
    .max(604_800)
    .optional()
    .describe(
      'Seconds after which the command is killed. Default: 120, at most 600; in the background as long as the run allows',
    ),
  cwd: pathArgument.default('.').describe('Working directory, relative to the workspace root'),
  run_in_background: z
    .boolean()
    .default(false)
    .describe('Return at once, with a task_id for task_output and kill_shell'),
  input: z
    .enum(['pipe', 'terminal'])
    .optional()
    .describe('In the background: keep the input open for task_input, as a pipe or as a terminal'),
});

const noInput = {
  ...failure(
    'EINVALIDARGS',
    'input is for background commands: this command would wait for text that no call can send.',
    'Set run_in_background: true, or give the text with the command, for example by a pipe.',
  ),
  touched: [],
};

export const bash = builtInTool({
  name: 'bash',
  shell: true,
  description: `Runs a command with bash in an isolated sandbox: it sees the workspace (/workspace) and the system's programs, and can reach only the hosts that the run allows. The result begins with a line such as exit 0; stdout and stderr follow as they are.
Every call starts a new shell: variables, the current directory and processes started with & do not outlive it; only files of the workspace do. For a server, a watcher or anything long set run_in_background: the result names its task_id, the command continues beside your other calls, and its changes become part of the workspace when it ends. Without input there is no terminal and no standard input. A long output is shown by both ends and the first failures of a test runner; the note before it names the file with all of it.
For reading, searching and changing files prefer read_file, grep, glob, edit and write_file.`,
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  input,
  touches: ({ command, cwd, run_in_background }) => ({
    ...{ command, cwd: relativePath(cwd) },
    ...(run_in_background && { background: true }),
  }),
  render: renderCommand,
  async execute(context, { command, timeout_s, cwd, run_in_background, input }) {
    // Reports a missing directory, or a directory outside, as data. For the sandbox a missing directory would be a failed set-up, to be
    // retried.
    if (relativePath(cwd) !== '.') await context.files.list(cwd, { limit: 1 }, context.signal);
    const shell = { command, cwd: relativePath(cwd) };
    if (!run_in_background) {
      if (input !== undefined) return noInput;
      const seconds = Math.min(timeout_s ?? defaultTimeoutS, maxTimeoutS);
      return runCommand(context, { ...shell, wall_ms: seconds * 1000 });
    }
    const spec = { ...shell, timeout_ms: timeout_s && timeout_s * 1000, ...(input && { input }) };
    const value = { task_id: context.taskId, status: 'running' };
    return { status: 'succeeded', value, touched: [], task: { kind: 'shell', title: titleOf(command), spec } };
  },
  async preview(context, { command, cwd, run_in_background }) {
    return previewCommand(context, { command, cwd: relativePath(cwd), ...(run_in_background && { background: true }) });
  },
});
