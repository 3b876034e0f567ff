import type { EventOf, LoggedEvent, Payload } from '@holdpoint/contract';
import type { NewsOfTask, PastNews } from '../ports/index.ts';

interface LoggedTask extends Pick<NewsOfTask, 'id' | 'kind' | 'title' | 'agent'> {
  stepId: string;
  end?: { seq: number; data: EventOf<'task.ended'>['data'] };
  /** When its end was asked for. */
  killAsked?: number;
  /** The step whose result has the end of the task. */
  shownBy?: string | undefined;
}

/** Events of a run besides the calls that its model reads: ended tasks, restored files, undone steps. Folded from the log. */
export interface NewsLog {
  tasks: Map<string, LoggedTask>;
  /** When the latest attempt of an open step started. */
  started: Map<string, number>;
  changes: Exclude<PastNews, { kind: 'task_ended' }>[];
}

export const noNews = (): NewsLog => ({ tasks: new Map(), started: new Map(), changes: [] });

/** Adds the next event. @param turn the last planned turn */
export function addNews(news: NewsLog, event: LoggedEvent, turn: number): void {
  switch (event.type) {
    case 'task.created': {
      const { task_id: id, kind, title, agent } = event.data;
      news.tasks.set(id, { id, kind, title, agent, stepId: event.step_id });
      return;
    }
    case 'task.ended': {
      const task = news.tasks.get(event.data.task_id);
      if (task !== undefined) task.end = { seq: event.seq, data: event.data };
      return;
    }
    case 'task.kill_requested': {
      const task = news.tasks.get(event.data.task_id);
      if (task !== undefined) task.killAsked ??= event.seq;
      return;
    }
    case 'step.started':
      news.started.set(event.step_id, event.seq);
      return;
    case 'workspace.distrusted':
      // A merge that was interrupted is made again.
      if (event.data.reason === 'merge_interrupted') return;
      news.changes.push({ kind: 'files_restored', about: String(event.seq), turn, reason: event.data.reason });
      return;
    case 'run.rewound': {
      const { undone, by } = event.data;
      news.changes.push({
        ...{ kind: 'steps_undone', about: String(event.seq), turn: event.data.turn },
        ...{ steps: undone.length, by },
      });
    }
  }
}

/**
 * A result shows the end of a task when its attempt started after the end, and the call began the task or names the task. A successful call
 * that names a task killed in the meantime has killed it, and waited for the end.
 */
export function noteResult(news: NewsLog, step: { id: string; args: Payload }, succeeded: boolean): void {
  const started = news.started.get(step.id);
  news.started.delete(step.id);
  if (started === undefined) return;
  let text: string | undefined; // Arguments may have half a million values.
  const names = (id: string): boolean => {
    text ??= 'json' in step.args ? JSON.stringify(step.args.json) : '';
    return text.includes(id);
  };
  for (const task of news.tasks.values()) {
    if (task.end === undefined || task.shownBy !== undefined) continue;
    const isKill = succeeded && task.killAsked !== undefined && task.killAsked > started;
    if (task.end.seq > started && !isKill) continue;
    if (task.stepId === step.id || names(task.id)) task.shownBy = step.id;
  }
}

/** The model no longer knows the tasks of undone calls, nor what undone calls showed. */
export function forgetUndone(news: NewsLog, undone: ReadonlySet<string>): void {
  for (const [id, task] of news.tasks) {
    if (undone.has(task.stepId)) news.tasks.delete(id);
    else if (task.shownBy !== undefined && undone.has(task.shownBy)) task.shownBy = undefined;
  }
}

/** A fork inherits the ended tasks of the turns that it keeps. */
export function inheritNews(news: NewsLog, other: NewsLog, isKept: (stepId: string) => boolean): void {
  for (const [id, task] of other.tasks) {
    if (task.end !== undefined && isKept(task.stepId)) news.tasks.set(id, { ...task });
  }
}

/** The news that no result has shown, the oldest first. A change of the files is news until two turns later. @param turn the last planned turn */
export function readNews({ tasks, changes }: NewsLog, turn: number): PastNews[] {
  const ended = [...tasks.values()].flatMap(({ end, shownBy, stepId: _, ...task }): PastNews[] => {
    if (end === undefined || shownBy !== undefined) return [];
    const { status, exit_code, reason, merged } = end.data;
    return [{ kind: 'task_ended', about: task.id, task: { ...task, status, exit_code, reason, merged } }];
  });
  return [...changes.filter((change) => change.turn >= turn - 1), ...ended];
}
