import type { TaskView } from '@holdpoint/contract';

/** The end of a sub-agent in the form of a command's end: its output is the last message, its error output the failure reason. */
export function agentEnd({ status, outcome }: Pick<TaskView, 'status' | 'outcome'>): {
  exit_code: number;
  stdout: string;
  stderr: string;
} {
  const { message: stdout = '', merged, reason } = outcome ?? {};
  if (merged !== undefined && 'conflicts' in merged) {
    const named = merged.conflicts.map(({ path }) => path).join(', ');
    const more = merged.total > merged.conflicts.length ? ' and more' : '';
    const stderr = `Error: nothing was merged: its changes conflict with others in ${named}${more}.`;
    return { exit_code: 1, stdout, stderr };
  }
  if (status === 'completed') {
    return { exit_code: 0, stdout, stderr: merged === undefined ? 'Its changes were not merged.' : leftOut(merged) };
  }
  const why = reason?.message ?? (status === 'failed' ? 'it failed' : `it was ${status === 'lost' ? 'lost' : 'ended'}`);
  return { exit_code: outcome?.exit_code || 1, stdout, stderr: `Error: ${why}` };
}

const leftOut = ({ left_out = [] }: { left_out?: readonly string[] | undefined }): string =>
  left_out.length === 0 ? '' : `Not merged, since no merge can bring it: ${left_out.join(', ')}.`;
