import type { NewsOfTask } from '@holdpoint/engine/worker';
import { quoted } from '../quoted.ts';

const endings: Partial<Record<NewsOfTask['status'], string>> = {
  completed: 'completed',
  failed: 'failed',
  killed: 'was killed',
  timed_out: 'reached its time limit and was killed',
  lost: 'was lost with its worker: what it wrote since the last snapshot is gone, and it does not run any longer',
};

/** @param waits the tool that shows a task */
export function commandSentence(task: NewsOfTask, waits: string | undefined): string {
  const code = task.exit_code === null ? '' : ` with exit ${task.exit_code}`;
  return `The background command ${task.id} ${quoted(task.title)} ${ending(task)}${code}.${reasonOf(task)}${shownBy(task, waits, 'what it printed')}`;
}

export function agentSentence(task: NewsOfTask, waits: string | undefined): string {
  const kind = task.agent === undefined ? '' : ` of the kind ${quoted(task.agent)}`;
  return `The sub-agent ${task.id}${kind} ${quoted(task.title)} ${ending(task)}.${reasonOf(task)}${mergeOf(task)}${shownBy(task, waits, 'its last message')}`;
}

const ending = ({ status }: NewsOfTask): string => endings[status] ?? 'ended';

/** A lost task has its whole reason in its ending. */
const reasonOf = ({ reason, status }: NewsOfTask): string =>
  reason === undefined || status === 'lost' ? '' : ` The reason is ${quoted(`${reason.code}: ${reason.message}`)}.`;

const mostPaths = 5;

function mergeOf({ merged }: NewsOfTask): string {
  if (merged === undefined) return '';
  const paths = 'paths' in merged ? merged.paths : merged.conflicts.map(({ path }) => path);
  const named = `${paths
    .slice(0, mostPaths)
    .map((path) => quoted(path))
    .join(', ')}${merged.total > mostPaths ? ', …' : ''}`;
  if ('conflicts' in merged) {
    return ` Its changes are not in your files, because they conflict with yours (${merged.total} in conflict: ${named}).`;
  }
  return merged.total === 0
    ? ' It changed no file.'
    : ` Its changes are in your files now (${merged.total} changed: ${named}); read these again before you change them.`;
}

const shownBy = ({ id }: NewsOfTask, waits: string | undefined, what: string): string =>
  waits === undefined ? '' : ` ${waits} {"task_id": "${id}"} has ${what}.`;
