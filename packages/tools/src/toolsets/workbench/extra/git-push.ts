import { z } from 'zod';
import { touchedHost } from '../../../operations/touched.ts';
import { builtInTool } from '../../built-in-tool.ts';
import { type Argv, gitEnvironment, runProgram } from './run-program.ts';

/** Neither an option of git nor the name of a helper program (`ext::…`). */
const remote = z
  .string()
  .max(2000)
  .regex(/^(https:\/\/|ssh:\/\/|[\w.])[^\s\0]*$/, 'expected an https or ssh URL, or a path')
  .refine((text) => !text.includes('::'), 'names a helper program of git');

const input = z.strictObject({
  remote: remote.describe(
    'URL of the remote repository, or its path in the workspace. A workspace has no named remotes',
  ),
  branch: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9_][\w./-]*$/, 'expected the name of a branch')
    .describe('Branch of the remote repository that gets the commits'),
});

const argvOf = ({ remote, branch }: z.output<typeof input>): Argv => [
  ...(['git', 'push', '--porcelain', '--'] as const),
  ...[remote, `HEAD:refs/heads/${branch}`],
];

export const gitPush = builtInTool({
  name: 'git_push',
  description:
    'Pushes the current commit of the workspace to a branch of another repository. A person is always asked first.',
  effect: 'external',
  risk: 'high',
  label: 'dangerous',
  version: '1.0.0',
  input,
  asks: true,
  touches: (args) => ({ argv: [...argvOf(args)], ...touchedHost(args.remote) }),
  async execute(context, args) {
    const ran = await runProgram(context, argvOf(args), { wallMs: 120_000, env: gitEnvironment });
    if (!ran.ok) return ran.outcome;
    const { stdout, capabilities } = ran.result;
    return {
      status: 'succeeded',
      value: { remote: args.remote, branch: args.branch, output: stdout.text },
      capabilities,
    };
  },
});
