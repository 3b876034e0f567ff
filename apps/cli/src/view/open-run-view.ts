import { isQuietEvent, type LiveFrame, type ModelUsage } from '@holdpoint/contract';
import type { RunDetail, RunEvent } from '@holdpoint/contract/wire';
import { nameText, oneLine, plain } from '@holdpoint/readable';
import { wrapAnsi } from 'fast-wrap-ansi';
import { clock, duration, eventText, fit, fold } from '../output/index.ts';
import type { Colors } from '../shell/index.ts';
import { type CallStyle, callLines, type PlannedCall, plannedCall } from './call-lines.ts';
import { GrowingText } from './growing-text.ts';
import { markdownLines } from './markdown.ts';
import type { Screen } from './screen.ts';
import { runUsageText, usageText } from './usage-text.ts';

export interface RunViewOptions {
  screen: Screen;
  colors: Colors;
  /** The person is asked for approvals, so nothing is said of them here. */
  asks: boolean;
  /** The run is a sub-agent: its name stands above, and its answer is for the run that it works for. */
  isAgent?: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A run as a person follows it on a terminal. */
export interface RunView {
  event(event: RunEvent): void;
  frame(frame: LiveFrame): void;
  /** @param since when the API stopped to answer, in milliseconds since the epoch; undefined: it answers */
  lost(since: number | undefined): void;
  /** @param text why the run stands in line; undefined: it does not */
  inLine(text: string | undefined): void;
  /** Draws the lines that change with the time. */
  tick(): void;
  /** Prints the answer and what was used. */
  end(run: RunDetail): void;
}

interface Running extends PlannedCall {
  since: number;
  output: GrowingText;
}

export function openRunView({ screen, colors, asks, isAgent = false, now }: RunViewOptions): RunView {
  const calls = new Map<string, PlannedCall>();
  const running = new Map<string, Running>();
  /** Titles of sub-agents, by their tasks. */
  const agents = new Map<string, string>();
  const used = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, cost_usd: 0 };
  const style: CallStyle = { colors, width: screen.width };
  let asked: { model: string; since: number } | undefined;
  let answer = new GrowingText();
  let thoughts = new GrowingText();
  let isThinking = false;
  /** The text of the last turn: at the end it is the answer, and is printed once. */
  let held: string | undefined;
  /** The last text of a turn that was printed before the end. */
  let said: string | undefined;
  let waits: string | undefined;
  let model = '';
  let inLine: string | undefined;
  let isOver = false;
  let lostAt: number | undefined;
  /** Why the model could not be asked, as it was last said. */
  let retried: string | undefined;
  let turn = 0;

  const print = (...lines: string[]): void => screen.print(lines);
  const callOf = (event: RunEvent): string =>
    'step_id' in event && event.step_id !== undefined ? (calls.get(event.step_id)?.text ?? event.step_id) : 'publish';

  function countUsage(usage: ModelUsage | undefined): void {
    used.input_tokens += usage?.input_tokens ?? 0;
    used.output_tokens += usage?.output_tokens ?? 0;
    used.cached_input_tokens += usage?.cached_input_tokens ?? 0;
    used.cost_usd += (usage?.cost_micros ?? 0) / 1e6;
  }

  function flush(): void {
    if (held === undefined || held.trim() === '') return;
    print('', ...markdownLines(held, { colors, width: screen.width }));
    said = held;
    held = undefined;
  }

  function event(one: RunEvent): void {
    // The end repeats the text of the last turn.
    if (one.type !== 'run.succeeded' && one.type !== 'run.closing') flush();
    follow(one);
    print(...linesOf(one));
    tick();
  }

  /** What the lines below depend on. */
  function follow(one: RunEvent): void {
    const at = Math.min(now(), Date.parse(one.time));
    switch (one.type) {
      case 'run.created':
        model = one.data.model ?? '';
        break;
      case 'step.created':
        calls.set(one.step_id, plannedCall(one.data));
        break;
      case 'task.created':
        if (one.data.child !== undefined) agents.set(one.data.task_id, one.data.title);
        break;
      case 'step.queued': {
        // A person has changed its arguments.
        const call = calls.get(one.step_id);
        if (call !== undefined && one.data.args !== undefined)
          calls.set(one.step_id, plannedCall({ tool: call.tool, args: one.data.args }));
        break;
      }
      case 'step.started': {
        const call = calls.get(one.step_id) ?? unknownCall(one.step_id);
        running.set(one.step_id, { ...call, since: at, output: new GrowingText() });
        waits = undefined;
        break;
      }
      case 'workspace.preparing': {
        const text = `prepare ${eventText(one, '')}`;
        running.set(prepareKey, { ...unknownCall(text), since: at, output: new GrowingText() });
        break;
      }
      case 'workspace.prepared':
      case 'workspace.prepare_failed':
        running.delete(prepareKey);
        break;
      case 'turn.planned': {
        countUsage(one.data.usage);
        held = one.data.message;
        waits = undefined;
        retried = undefined;
        turn = one.data.turn;
        break;
      }
      case 'run.rewound':
        turn = one.data.turn;
        break;
      case 'run.resumed':
        model = one.data.model ?? model;
        waits = undefined;
        break;
      case 'model.used':
        countUsage(one.data.usage);
        break;
      case 'model.retrying':
        waits = `for ${nameText(one.data.next)} until ${clock(one.data.until)}`;
        break;
      case 'run.waiting':
        waits = eventText(one, '');
        break;
      case 'run.paused':
      case 'run.succeeded':
      case 'run.failed':
      case 'run.canceled':
        isOver = true;
        break;
      default:
        if ('step_id' in one && one.step_id !== undefined && isEndOfAttempt(one)) running.delete(one.step_id);
    }
    if (isEndOfAsking(one)) asked = undefined;
    else if (asksNext(one)) asked = { model, since: at };
    if (one.type === 'run.resumed') isOver = false;
  }

  function linesOf(one: RunEvent): string[] {
    const note: Note = (text, paint = colors.dim) => [paint(`  ${oneLine(text, screen.width - 2)}`)];
    switch (one.type) {
      case 'run.created':
        if (isAgent) return [];
        return [
          colors.bold(oneLine(one.data.title, screen.width)),
          colors.dim(`${one.run_id} ${nameText(model)}`.trim()),
        ];
      case 'workspace.materialised':
        return one.data.files === 0 ? [] : note(eventText(one, ''));
      case 'task.created':
        // A sub-agent has its own lines, below its name.
        return one.data.child === undefined ? note(`task created ${eventText(one, '')}`) : [];
      case 'step.deferred':
        return agents.has(one.data.task_id ?? '') ? [] : note(`step deferred ${eventText(one, callOf(one))}`);
      case 'task.ended':
        return taskEndLines(one, note);
      case 'context.instructed':
        return one.data.files.length === 0 ? [] : note(`instructions ${eventText(one, '')}`);
      case 'turn.planned':
        return thoughtLines();
      case 'step.succeeded':
      case 'step.failed':
      case 'step.killed':
      case 'step.timed_out':
      case 'step.rejected':
      case 'step.expired':
      case 'step.canceled':
        return callLines(one, calls.get(one.step_id) ?? unknownCall(one.step_id), style);
      case 'approval.requested':
        if (asks) return [];
        return [
          `  ${colors.yellow('⏸')} ${fit(callOf(one), screen.width - 24)}${colors.yellow(' waits for a decision')}`,
        ];
      case 'approval.decided':
        return note(decidedText(one.data, callOf(one)));
      case 'message.received':
        return note(`» ${eventText(one, '')}`, colors.bold);
      case 'model.retrying': {
        // Said whole, and again only when the cause changes: the last line shows until when it waits.
        const { code, message } = one.data.reason;
        const cause = `${one.data.model}: ${code}: ${message}`;
        if (cause === retried) return [];
        retried = cause;
        const text = `model retrying: ${cause}. ${nameText(one.data.next)} is asked at ${clock(one.data.until)}, and later again`;
        return wrapAnsi(oneLine(text, 1000), screen.width - 2)
          .split('\n')
          .map((line) => colors.yellow(`  ${line}`));
      }
      case 'run.paused':
      case 'run.failed':
        // Why it stopped is said whole, with the lines that a command printed.
        return wrapAnsi(
          plain(`${one.type.replace('.', ' ')}: ${eventText(one, '')}`.slice(0, 4000)).trimEnd(),
          screen.width - 2,
        )
          .split('\n')
          .map((line) => (one.type === 'run.failed' ? colors.red : colors.yellow)(`  ${line}`));
      case 'run.closing':
        return [];
      case 'run.succeeded':
        return isAgent ? note(`answers: ${one.data.message}`) : [];
      default:
        return isQuietEvent(one)
          ? []
          : note(
              `${one.type.replace('.', ' ').replaceAll('_', ' ')} ${eventText(one, callOf(one))}`,
              paintOf(one, colors),
            );
    }
  }

  function taskEndLines(one: EventOf<'task.ended'>, note: Note): string[] {
    const { task_id, status } = one.data;
    const title = agents.get(task_id);
    if (title === undefined) return note(`task ended ${eventText(one, '')}`);
    const how = eventText(one, '').slice(task_id.length + 1);
    return note(`sub-agent ${how}: ${title}`, status === 'completed' ? colors.dim : colors.yellow);
  }

  function thoughtLines(): string[] {
    const text = thoughts.text.trim();
    answer = new GrowingText();
    thoughts = new GrowingText();
    if (text === '') return [];
    const lines = fold(plain(text).split('\n'), { head: 3, tail: 2 });
    return ['', ...lines.map((line) => colors.dim(`  ${fit(line, screen.width - 2)}`))];
  }

  function frame(one: LiveFrame): void {
    // A piece that arrives after the whole is old.
    if (one.turn !== undefined && one.turn <= turn) return;
    switch (one.kind) {
      case 'model.asking':
        asked = { model: one.model ?? model, since: Math.min(now(), Date.parse(one.since)) };
        waits = undefined;
        break;
      case 'model.text':
        answer.add(one);
        isThinking = false;
        break;
      case 'model.reasoning':
        thoughts.add(one);
        isThinking = true;
        break;
      case 'model.call':
        break;
      case 'command.output':
        running.get(one.step_id ?? prepareKey)?.output.add(one);
        break;
      default:
        one.kind satisfies never;
    }
    tick();
  }

  function lost(since: number | undefined): void {
    lostAt = since;
    tick();
  }

  function tick(): void {
    screen.show(isOver ? [] : [...growing(), status()], colors.dim);
  }

  /** The end of what comes now: the text of the model, or the output of the command that began last. */
  function growing(): string[] {
    const [command] = [...running.values()].toReversed().filter(({ output }) => output.text !== '');
    const from = command?.output ?? (isThinking ? thoughts : answer);
    if (from.text.trim() === '') return [];
    const mark = command === undefined ? '  ' : '    │ ';
    return from.lastLines(growingLines).map((line) => `${mark}${plain(line)}`);
  }

  function status(): string {
    const [first, ...others] = running.values();
    const since = (from: number): string => elapsed(Math.max(0, now() - from));
    const total = usageText(used);
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const doing =
      lostAt !== undefined
        ? `no answer from the API since ${clock(new Date(lostAt).toISOString())}, trying again`
        : (waits ?? inLine) !== undefined
          ? `waits ${waits ?? inLine}`
          : first !== undefined
            ? `${fit(first.text, Math.max(16, screen.width - total.length - 30))}${more} · ${since(first.since)}`
            : asked !== undefined && asked.model !== ''
              ? `asking ${nameText(asked.model)} · ${since(asked.since)}`
              : 'working';
    return ['·', doing, ...(total === '' ? [] : [`· ${total}`])].join(' ');
  }

  function end(run: RunDetail): void {
    screen.show([]);
    const isSaid = held === undefined && said !== undefined && said === run.message;
    const text = isSaid ? '' : (run.message ?? held ?? '');
    held = undefined;
    if (text.trim() !== '') print('', ...markdownLines(text, { colors, width: screen.width }));
    print('', colors.dim(runUsageText(run)));
  }

  function standsInLine(text: string | undefined): void {
    inLine = text;
    tick();
  }

  return { event, frame, lost, inLine: standsInLine, tick, end };
}

const unknownCall = (text: string): PlannedCall => ({ tool: '', text, args: { json: {} } });

/** In the place of a step's id: one command of `prepare` runs at a time. */
const prepareKey = 'prepare';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type Note = (text: string, paint?: (text: string) => string) => string[];
type Decided = EventOf<'approval.decided'>['data'];
const decidedWords: Record<Decided['decision'], string> = {
  approve: 'approved',
  edit: 'edited',
  reject: 'rejected',
  respond: 'answered',
};

const decidedText = ({ decision, by, message }: Decided, call: string): string =>
  `${call}: ${decidedWords[decision]} by ${by}${message === undefined ? '' : `: ${message}`}`;

/** In whole seconds: it is drawn once in a second. */
const elapsed = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms));

const growingLines = 6;

const isEndOfAttempt = ({ type }: Pick<RunEvent, 'type'>): boolean => type.startsWith('step.') && !goesOn.has(type);
const goesOn: ReadonlySet<string> = new Set<RunEvent['type']>([
  ...(['step.created', 'step.queued', 'step.started', 'step.cancel_requested'] as const),
]);

const isEndOfAsking = ({ type }: RunEvent): boolean =>
  type === 'turn.planned' || type === 'run.paused' || type === 'model.retrying';

/** After these the model is asked, when no call is left. */
const asksNext = ({ type }: RunEvent): boolean =>
  type === 'run.started' || type === 'run.resumed' || isEndOfAttempt({ type });

function paintOf({ type }: RunEvent, colors: Colors): (text: string) => string {
  const isWarning =
    /\.(retried|indeterminate|retrying|repaired|distrusted|drifted|conflicted|waiting|canceling|canceled)$/;
  return isWarning.test(type) ? colors.yellow : colors.dim;
}
