import { z } from 'zod';
import { pathArgument } from '../../../operations/touched.ts';
import { builtInTool } from '../../built-in-tool.ts';
import { type Argv, gitEnvironment, runProgram } from './run-program.ts';

const input = z.strictObject({
  message: z.string().min(1).max(10_000).describe('Message of the commit'),
  paths: z.array(pathArgument).min(1).max(1000).optional().describe('Files to commit. Default: every change'),
});

const addArgv = ({ paths }: z.output<typeof input>): Argv => ['git', 'add', '--all', '--', ...(paths ?? ['.'])];
/** git reads no configuration of a person here, so the author is named. */
const commitArgv = ({ message }: z.output<typeof input>): Argv => [
  ...(['git', '-c', 'user.name=agent', '-c', 'user.email=agent@localhost'] as const),
  ...['commit', '--quiet', '--message', message],
];

export const gitCommit = builtInTool({
  name: 'git_commit',
  description:
    'Commits changes in the repository of the workspace. Returns {commit}, the id of the commit. Nothing to commit is an error.',
  effect: 'workspace',
  risk: 'medium',
  label: 'safe_write',
  version: '1.0.0',
  input,
  touches: (args) => ({ argv: [...commitArgv(args)] }),
  async execute(context, args) {
    for (const argv of [addArgv(args), commitArgv(args)]) {
      const ran = await runProgram(context, argv, { env: gitEnvironment });
      if (!ran.ok) return ran.outcome;
    }
    const ran = await runProgram(context, ['git', 'rev-parse', 'HEAD'], { env: gitEnvironment });
    if (!ran.ok) return ran.outcome;
    const { stdout, capabilities } = ran.result;
    return { status: 'succeeded', value: { commit: stdout.text.trim() }, capabilities };
  },
});
