import { fixedTime, type Json, type KeptImage, type KeptPdf, type LongResult, type RunSpec } from '@holdpoint/contract';
import type { PastTurn, SettledStep } from '@holdpoint/engine/worker';
import type { ModelAnswer, ModelImage, ModelMessage } from '@holdpoint/models';
import type { Registry } from '@holdpoint/tools';
import { capResult, cutText } from './context/cap-result.ts';
import { cutBody, leftOutNote } from './context/cut-body.ts';
import { type RepeatedReads, repeatedText } from './context/repeated-reads.ts';
import { isSaidByPeople } from './context/verbatim.ts';
import { decisionNote } from './decision-note.ts';

/** The parts of a long result. The note names their lines, so no line of the content can imitate a gap. */
const partsOf = ({ parts }: LongResult): string => parts.map(({ text }) => text).join('\n[…]\n');

/** Says which lines of a long result are shown, and where all of them are. */
function longNote(long: LongResult): string {
  const { path, bytes, lines, parts, failures, stderr_line, folded, dropped } = long;
  const ranges = parts.map(({ line, text }) => `${line}-${line + text.split('\n').length - 1}`);
  const sentences = [
    `Holdpoint shows lines ${ranges.join(', ')} of ${lines} (${bytes} bytes)${failures ? ', among them the first failures' : ''}.`,
    ...(stderr_line === undefined ? [] : [`Stderr begins at line ${stderr_line}.`]),
    ...(folded ? ['Long lines are broken into several.'] : []),
    ...(dropped === undefined ? [] : [`${dropped} bytes in the middle of the output were not kept.`]),
    path === undefined
      ? 'The rest could not be kept: where you need it, make the call again with less output.'
      : `All of it is in ${path}: read that file in parts, or search in it.`,
  ];
  return `[${sentences.join(' ')}]`;
}

type Deps = Pick<Registry, 'present' | 'render' | 'list' | 'keepsList'>;

export interface Shown {
  /** Most bytes of each result in a request. */
  cap: number;
  /** @default none */
  repeated?: RepeatedReads;
}

/** The messages of a past turn, in order. */
export function turnMessages(registry: Deps, spec: RunSpec, turn: PastTurn, { cap, repeated }: Shown): ModelMessage[] {
  const messages = readBefore(turn).map(asUser);
  const answer = answerOf(turn);
  // Providers refuse an answer without content.
  if (answer !== undefined && !isEmpty(answer)) {
    const kept = new Set(turn.steps.filter((step) => isKept(registry, spec, step)).map(({ call_id }) => call_id));
    messages.push({ role: 'assistant', answer: cap < freshCap ? shortened(answer, kept, cap) : answer });
    const results = turn.steps.map((step) => {
      const first = repeated?.get(step);
      if (first !== undefined)
        return { id: step.call_id ?? step.id, tool: step.tool, text: repeatedText(first), is_error: false };
      return result(registry, spec, step, kept.has(step.call_id) ? freshCap : cap);
    });
    results.push(...refusals(registry, spec, turn, answer));
    if (results.length > 0) messages.push({ role: 'tool', results });
  }
  if (turn.note !== undefined) messages.push({ role: 'user', text: turn.note.text });
  return messages;
}

/** Most bytes of a result in a request, before anything had to be shortened. */
export const freshCap = 128 * 1024;

interface ToolResult {
  id: string;
  tool: string;
  text: string;
  is_error: boolean;
  images?: ModelImage[];
}

/** Every call of an answer needs a result, also the calls beyond the limit of a turn. They are no steps. */
function refusals(
  registry: Deps,
  spec: RunSpec,
  { steps, refused: error, at }: PastTurn,
  answer: ModelAnswer,
): ToolResult[] {
  if (error === undefined) return [];
  const { toolset, settings, modes } = spec;
  const made = new Set(steps.map((step) => step.call_id));
  const left = answer.calls.filter(({ id }) => !made.has(id));
  const when = modes.deterministic ? new Date(fixedTime).toISOString() : at;
  const times = { created_at: when, started_at: null, settled_at: when, queued_ms: 0, duration_ms: 0 };
  return left.map(({ id, tool, args }) => {
    const call = { tool, args, status: 'rejected' as const, error, times, settings, modes };
    const native = registry.present(toolset, call);
    return result(registry, spec, { id, call_id: id, ...{ tool, args, error, native }, status: call.status }, freshCap);
  });
}

/** The answer recorded by the planner with the turn; undefined for a turn without an answer. */
const answerOf = ({ answer }: PastTurn) => answer as ModelAnswer | undefined;

const isEmpty = ({ text, calls }: ModelAnswer): boolean => text.trim() === '' && calls.length === 0;

/** The texts that the model read before a turn, besides results: messages of people, then notices and a warning of Holdpoint. */
export const readBefore = ({
  readMessages,
  notified = [],
  warned,
}: Pick<PastTurn, 'readMessages' | 'notified' | 'warned'>): string[] => [
  ...readMessages,
  ...notified,
  ...(warned === undefined ? [] : [warned]),
];

export const asUser = (text: string): ModelMessage => ({ role: 'user', text });

/** Words of people and lists stay whole, however old they are. */
function isKept(registry: Deps, { toolset }: RunSpec, step: SettledStep): boolean {
  return registry.keepsList(toolset, step.tool) || isSaidByPeople(registry, toolset, step);
}

/**
 * Shortens an older answer with a long text or long arguments. Without the provider's parts, the answer is rebuilt from its text and calls.
 */
function shortened(answer: ModelAnswer, kept: ReadonlySet<string | undefined>, cap: number): ModelAnswer {
  const calls = answer.calls.map((call) => {
    if (kept.has(call.id)) return call;
    const { value, leftOut } = capResult(call.args, Math.max(cap, shortestArgs));
    return leftOut === 0 ? call : { ...call, args: value };
  });
  const text = cutText(answer.text, longestText);
  const isWhole = text === answer.text && calls.every((call, at) => call === answer.calls[at]);
  return isWhole ? answer : { ...answer, text, calls, provider: null };
}

const shortestArgs = 2000;
const longestText = 16_000;

/**
 * A result begins with Holdpoint's own words: decisions of people, a note about text left out, and the head of the result. Content follows,
 * so content of a hostile file or command never stands where Holdpoint speaks.
 */
function result(registry: Deps, { toolset }: RunSpec, step: SettledStep, cap: number): ToolResult {
  const { tool, status, native = null, long } = step;
  const shown = registry.render(toolset, { tool, status, result: native, isLong: long !== undefined });
  const { head, body, left } =
    shown === undefined
      ? asJson(native, cap)
      : { head: shown.head, ...cutBody(long === undefined ? shown.body : partsOf(long), cap) };
  const { images = [], pdf } = shown ?? {};
  const isOld = cap < freshCap;
  const kept = isOld ? [] : [...images.map(asModelImage), ...(pdf === undefined ? [] : [asModelPdf(pdf, body)])];
  const note = isOld && images.length > 0 ? imageLeftOut : '';
  const inFile = pdf !== undefined && !isOld;
  const said = [decisionNote(step), long && longNote(long), left, head, note, inFile ? '' : body];
  return {
    ...{ id: step.call_id ?? step.id, tool, text: said.filter(Boolean).join('\n') },
    is_error: shown?.isError ?? status !== 'succeeded',
    ...(kept.length > 0 && { images: kept }),
  };
}

const imageLeftOut =
  '[Holdpoint no longer shows the image, so that the conversation does not become too long. Read the file again where you need it.]';

/** The bytes come when the request is sent. */
const asModelImage = ({ media_type, width, height, sha256, bytes }: KeptImage): ModelImage => ({
  ...{ media_type, data: '', width, height },
  kept: { sha256, bytes },
});

/** The text stands in the place of the file, where a model reads no PDF or the file is lost. */
const asModelPdf = ({ media_type, pages, sha256, bytes }: KeptPdf, text: string): ModelImage => ({
  ...{ media_type, data: '', pages, text },
  kept: { sha256, bytes },
});

/** The result of a contract with a form of its own. */
function asJson(native: Json, cap: number) {
  const { value, leftOut } = capResult(native, cap);
  return {
    head: '',
    body: JSON.stringify(value),
    left: leftOut === 0 ? '' : leftOutNote(`${leftOut} bytes of this result`),
  };
}
