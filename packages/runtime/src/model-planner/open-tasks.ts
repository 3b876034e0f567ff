import type { OpenTask, PastTurn, PlannerDecision } from '@holdpoint/engine/worker';

interface Tool {
  name: string;
  parameters: Record<string, unknown>;
}

/** The tools of the run for tasks. */
interface TaskTools {
  waits?: Tool | undefined;
  ends?: Tool | undefined;
}

/**
 * Asks a model again when the model ends with open tasks: a note names each open task once, because the end of the run ends the tasks. The
 * model's next ending ends the run: a server meant to run until the end of the run does not prevent the end.
 */
export function tellOfOpenTasks(
  decision: PlannerDecision,
  { tasks, past, tools }: { tasks: readonly OpenTask[]; past: readonly PastTurn[]; tools: TaskTools },
): PlannerDecision {
  if (decision.kind !== 'finish') return decision;
  const told = past.flatMap(({ note }) => (note?.code === 'open_tasks' ? [note.text] : []));
  const news = tasks.filter(({ id }) => !told.some((text) => text.includes(id)));
  if (news.length === 0) return decision;
  const { kind: _, output: __, ...said } = decision;
  return { ...said, kind: 'again', note: { code: 'open_tasks', text: textOf(news, tools) } };
}

const mostNamed = 64;

function textOf(tasks: readonly OpenTask[], tools: TaskTools): string {
  const one = tasks.length === 1;
  const lines = tasks.slice(0, mostNamed).map(({ id, kind, title }) => {
    const what = kind === 'agent' ? 'sub-agent' : 'command';
    return `- ${id}: ${what} ${JSON.stringify(title.slice(0, 200))}`;
  });
  return [
    `You ended, and ${one ? 'a task of yours still runs' : `${tasks.length} tasks of yours still run`}:`,
    ...lines,
    `The end of the run kills ${one ? 'it' : 'them'}. What a command has written until then stays; what a sub-agent did is not merged.`,
    ...howTo(tools),
    `If ${one ? 'it is' : 'they are'} not needed any longer, answer once more without a call: the run then ends.`,
  ].join('\n');
}

function howTo({ waits, ends }: TaskTools): string[] {
  return [
    ...(waits
      ? [`To read what it printed, or to wait for its end: ${waits.name} {"task_id": …${waitOf(waits)}}.`]
      : []),
    ...(ends ? [`To end it: ${ends.name} {"task_id": …}.`] : []),
  ];
}

/** The argument that makes a call wait, in the words of the tool. */
function waitOf({ parameters }: Tool): string {
  const known = JSON.stringify(parameters);
  if (known.includes('"wait_s"')) return ', "wait_s": 600';
  return known.includes('"wait"') ? ', "wait": true' : '';
}
