import { z } from 'zod';
import { builtInTool } from '../../built-in-tool.ts';
import { type Argv, gitEnvironment, runProgram } from './run-program.ts';

const argv: Argv = ['git', 'status', '--porcelain=v1', '-z', '--branch'];
const most = 1000;

export const gitStatus = builtInTool({
  name: 'git_status',
  description:
    'Shows the branch of the workspace and the files that differ from its last commit. Returns {branch, clean, files: [{path, index, worktree}], truncated}; index and worktree are letters of git: M, A, D, R, ? or a space.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  version: '1.0.0',
  input: z.strictObject({}),
  touches: () => ({ argv: [...argv] }),
  async execute(context) {
    const ran = await runProgram(context, argv, { env: gitEnvironment });
    if (!ran.ok) return ran.outcome;
    const { stdout, capabilities } = ran.result;
    const { branch, files } = parse(
      stdout.truncated ? stdout.text.slice(0, stdout.text.lastIndexOf('\0', 32_000)) : stdout.text,
    );
    const truncated = stdout.truncated || files.length > most;
    const value = { branch, clean: files.length === 0, files: files.slice(0, most), truncated };
    return { status: 'succeeded', value, touched: [], capabilities };
  },
});

function parse(text: string): { branch: string; files: { path: string; index: string; worktree: string }[] } {
  const [head = '', ...records] = text.split('\0').filter((record) => record !== '');
  const files: ReturnType<typeof parse>['files'] = [];
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? '';
    const [index = ' ', worktree = ' '] = record;
    files.push({ path: record.slice(3), index, worktree });
    // The next record is the name before the renaming.
    if (index === 'R' || index === 'C') at++;
  }
  return { branch: head.replace(/^## (No commits yet on )?/, '').replace(/\.\.\..*$/, ''), files };
}
