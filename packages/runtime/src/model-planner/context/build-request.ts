import type { PastCompaction, PastConversation, PastTurn, PlannerInput } from '@holdpoint/engine/worker';
import * as models from '@holdpoint/models';
import type { Registry } from '@holdpoint/tools';
import { asUser, freshCap, readBefore, type Shown, turnMessages } from '../conversation.ts';
import { findRepeatedReads, type RepeatedReads } from './repeated-reads.ts';
import { readVerbatim, summaryText, type Verbatim } from './verbatim.ts';

/** A request ready for sending, and its parts. */
export interface BuiltRequest {
  messages: models.ModelMessage[];
  /** First estimates of tokens: of the request, of everything except turns, and of a turn with each result cut to `cap` bytes. */
  tokens: number;
  fixed: number;
  tokensAt: (turn: PastTurn, cap: number) => number;
  capOf: (turn: PastTurn) => number;
  /**
   * The beginning of the request, through these first turns: what a provider has in its cache, while no result of them was cut.
   * @param cap most bytes of each result @default the present cap of a turn
   */
  through: (turns: readonly PastTurn[], cap?: number) => { messages: models.ModelMessage[]; tokens: number };
  /** The summary of earlier turns. */
  summary: string;
  carried: Verbatim;
  /** Tokens of the model for each token of the first estimate. */
  scale: number;
}

interface Parts {
  system: string;
  tools: readonly models.ModelTool[];
  sight: models.Sight;
}

/** Builds the request from the log alone: each process builds the same request, and the beginning of the request stays the same. */
export function buildRequest(
  registry: Registry,
  { spec, warned, model }: Pick<PlannerInput, 'spec' | 'warned' | 'model'>,
  { turns, unread, notified, compactions }: PastConversation,
  { system, tools, sight }: Parts,
): BuiltRequest {
  const { goal } = spec;
  if (goal.planner !== 'model') throw new TypeError('the run has no prompt');
  const summarised = compactions.findLast(({ how }) => how === 'summarised');
  const carried = readVerbatim(summarised?.carried);
  const summary = summarised?.summary ?? '';
  const before: models.ModelMessage[] = [
    { role: 'user', text: goal.prompt, ...(goal.images && { images: goal.images }) },
    ...(summarised === undefined ? [] : [asUser(summaryText(summarised.through_turn, carried, summary))]),
  ];
  const capOf = capsOf(compactions);
  const count: Counting = {
    key: sight.images || sight.pdf ? model : '',
    image: (image) => countImage(model, sight, image),
  };
  const rendered = (turn: PastTurn, cap: number, repeated?: RepeatedReads) =>
    renderedTurn(registry, spec, turn, { cap, count, repeated });
  const repeatedAt = (cap: (turn: PastTurn) => number) =>
    findRepeatedReads(registry, spec.toolset, turns, (turn) => cap(turn) >= freshCap);
  const repeated = repeatedAt(capOf);
  const middle = turns.map((turn) => rendered(turn, capOf(turn), repeated));
  const after = readBefore({ readMessages: unread, notified, warned }).map(asUser);
  const begin = models.tokensOf(system) + models.tokensOfTools(tools) + sum(before, count);
  const fixed = begin + sum(after, count);
  return {
    messages: [...before, ...middle.flatMap(({ messages }) => messages), ...after],
    tokens: middle.reduce((all, { tokens }) => all + tokens, fixed),
    ...{ fixed, capOf, summary, carried },
    through(some, cap) {
      const repeats = cap === undefined ? repeated : repeatedAt(() => cap);
      const parts = some.map((turn) => rendered(turn, cap ?? capOf(turn), repeats));
      const tokens = parts.reduce((all, part) => all + part.tokens, begin);
      return { messages: [...before, ...parts.flatMap(({ messages }) => messages)], tokens };
    },
    tokensAt: (turn, cap) => rendered(turn, cap).tokens,
    scale: scaleOf(turns, compactions, begin, (turn) => rendered(turn, capOf(turn), repeated)),
  };
}

interface Counting {
  /** Counts with the same key are the same. */
  key: string;
  image: models.CountImage;
}

/** A sentence stands in the place of an image that the model does not read, and the text in the place of a PDF. */
const wordsForImage = 40;

function countImage(model: string, sight: models.Sight, image: models.ModelImage): number {
  if (image.pages === undefined) return sight.images ? models.tokensOfImage(model, image) : wordsForImage;
  return sight.pdf ? models.tokensOfPdf(model, image) : models.tokensOf(image.text ?? '');
}

const sum = (messages: readonly models.ModelMessage[], { image }: Counting): number =>
  messages.reduce((all, message) => all + models.tokensOfMessage(message, image), 0);

/** The cap of a turn is the smallest cap recorded for the turn. */
function capsOf(compactions: readonly PastCompaction[]): (turn: PastTurn) => number {
  const cuts = compactions.flatMap(({ through_turn: through, cap }) => (cap === undefined ? [] : [{ through, cap }]));
  return ({ turn }) =>
    cuts.reduce((least, { through, cap }) => (turn <= through ? Math.min(least, cap) : least), freshCap);
}

interface Rendered {
  messages: models.ModelMessage[];
  tokens: number;
}

/** A turn of the past does not change, so its messages are made once. */
const rendered = new WeakMap<PastTurn, Map<string, Rendered>>();

function renderedTurn(
  registry: Registry,
  spec: PlannerInput['spec'],
  turn: PastTurn,
  { cap, count, repeated }: Shown & { count: Counting },
): Rendered {
  const known = rendered.get(turn) ?? new Map<string, Rendered>();
  rendered.set(turn, known);
  const again = turn.steps.map((step) => repeated?.get(step) ?? '').join();
  const key = `${cap} ${count.key} ${again}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const messages = turnMessages(registry, spec, turn, { cap, ...(repeated && { repeated }) });
  const made = { messages, tokens: sum(messages, count) };
  // The caps of a turn become smaller with time, and larger caps are not needed again.
  if (known.size > 4) known.clear();
  known.set(key, made);
  return made;
}

/** Tokens counted by the provider for the last request, divided by the first estimate of the request. */
function scaleOf(
  turns: readonly PastTurn[],
  compactions: readonly PastCompaction[],
  begin: number,
  renderedAs: (turn: PastTurn) => Rendered,
): number {
  const last = compactions.at(-1);
  let before = begin;
  let scale = last?.scale ?? 1;
  for (const turn of turns) {
    const { messages, tokens } = renderedAs(turn);
    const answer = messages.find((message) => message.role === 'assistant');
    const read = readBefore(turn).reduce((all, text) => all + models.tokensOfMessage(asUser(text), () => 0), 0);
    // Requests before the last compaction were longer than their turns are now, shortened or summarised.
    if (answer !== undefined && turn.turn >= (last?.before_turn ?? 0)) {
      const counted = answer.answer.usage.input_tokens / (before + read);
      if (counted >= leastScale && counted <= mostScale) scale = counted;
    }
    before += tokens;
  }
  return scale;
}

// Outside these bounds the provider counted something else, or gave no count.
const [leastScale, mostScale] = [0.3, 5];
