import type { NoticeKind } from '@holdpoint/contract';
import type { BudgetUse, PastConversation } from '@holdpoint/engine/worker';
import { quoted } from '../quoted.ts';
import type { TodoList } from './open-todos.ts';
import { agentSentence, commandSentence } from './task-sentences.ts';

/** The facts that decide which notices are due, just before the model is asked. */
export interface NoticeFacts {
  news: PastConversation['news'];
  budgets: readonly BudgetUse[];
  /** The number of the turn to plan. */
  turn: number;
  /** The latest list with open items. */
  todos?: TodoList | undefined;
  /** The tokens of the request, as a share of those at which older turns are shortened. */
  fullness: number;
  /** How many summaries replaced older turns. */
  summaries: number;
  /** The tool that shows a task. */
  waits?: string | undefined;
}

/** @param about distinguishes notices of a kind: each is given once */
interface Due {
  about: string;
  sentence: string;
}

/** Turns with an unchanged list. */
const staleAfter = 10;
/** At 1 older turns are shortened, to about 0.6. */
const nearlyFull = 0.8;
const nearlyUsed = 0.8;

/** The notices: when each is due, and its sentence. */
export const noticeTable: Record<NoticeKind, (facts: NoticeFacts) => Due[]> = {
  task_ended: ({ news, waits }) => tasksIn(news, 'shell').map((task) => due(task.id, commandSentence(task, waits))),
  agent_ended: ({ news, waits }) => tasksIn(news, 'agent').map((task) => due(task.id, agentSentence(task, waits))),
  files_restored: ({ news }) =>
    news.flatMap((one) => (one.kind === 'files_restored' ? [due(one.about, restored(one.reason))] : [])),
  steps_undone: ({ news }) =>
    news.flatMap((one) => (one.kind === 'steps_undone' ? [due(one.about, undone(one.steps, one.by))] : [])),
  todos_stale: ({ todos, turn }) =>
    todos !== undefined && turn - todos.turn > staleAfter ? [due(`turn ${todos.turn}`, stale(todos, turn))] : [],
  window_nearly_full: ({ fullness, summaries }) =>
    fullness >= nearlyFull && fullness < 1 ? [due(`summaries ${summaries}`, full(fullness))] : [],
  budget_nearly_used: ({ budgets }) =>
    budgets
      .filter(({ used, most }) => used >= most * nearlyUsed && used < most)
      .map((budget) => due(`${budget.limit} ${budget.since}`, nearlyUsedUp(budget))),
};

const due = (about: string, sentence: string): Due => ({ about, sentence });

const tasksIn = (news: NoticeFacts['news'], kind: 'shell' | 'agent') =>
  news.flatMap((one) => (one.kind === 'task_ended' && one.task.kind === kind ? [one.task] : []));

function restored(reason: string): string {
  const why = reason === 'other_boot' ? ' after the machine restarted' : '';
  return `The files were put back to their last snapshot${why}: what your finished calls changed is there, what a background command wrote since is not.`;
}

const undone = (steps: number, by: string): string =>
  `${quoted(by)} undid the ${counted(steps, 'call')} that you had made after this point, and the files are as they were before. Do not do the same again unless you were asked to.`;

const stale = ({ turn, open, first }: TodoList, now: number): string =>
  `Your list of todos is unchanged for ${now - turn} turns, with ${counted(open, 'open item')}, the first ${quoted(first)}. Bring it up to date, or empty it when it no longer helps.`;

const full = (fullness: number): string =>
  `This conversation has reached ${percent(fullness)} of the length that is kept whole. Soon results of older turns are cut, and then older turns are replaced by a summary. Say in your next answer what you found out and what is left to do.`;

const nearlyUsedUp = (budget: BudgetUse): string =>
  `You have used ${percent(budget.used / budget.most)} of a limit of this run: ${amounts(budget)}. At the limit the run pauses until a person grants more. Do first what matters most, and leave the files in a sound state.`;

function amounts({ limit, used, most }: BudgetUse): string {
  switch (limit) {
    case 'max_turns':
      return `${used} of ${most} turns`;
    case 'max_steps':
      return `${used} of ${most} calls`;
    case 'max_tokens':
      return `${used} of ${most} tokens`;
    case 'wall_s':
      return `${Math.round(used)} of ${most} seconds`;
    case 'max_cost_usd':
      return `$${used.toFixed(2)} of $${most.toFixed(2)}`;
    default:
      return limit satisfies never;
  }
}

const percent = (share: number): string => `${Math.floor(share * 100)} %`;
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
