import type { Sight } from './describe-model.ts';
import { ModelError } from './errors.ts';
import type { FreeTexts } from './free-text.ts';
import { type ChosenImages, chooseImages, type ImagePart } from './images.ts';
import { parseModelName } from './model-name.ts';
import type { ModelAnswer, ModelImage, ModelMessage, ModelRequest } from './port.ts';
import { isJsonObject, usedIds } from './read-answer.ts';
import { type Replay, type ReplayPart, unpackReplay } from './replay.ts';

type Result = (ModelMessage & { role: 'tool' })['results'][number];

interface TextPart {
  type: 'text';
  text: string;
}

interface ResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string } | { type: 'content'; value: (TextPart | ImagePart)[] };
}

/** A recorded part. The input of a call is a text where the tool takes plain texts. */
type SentPart =
  | Exclude<ReplayPart, { type: 'tool-call' }>
  | (Omit<CallPart, 'input'> & { input: CallPart['input'] | string });
type CallPart = ReplayPart & { type: 'tool-call' };

/** A message in the form of the SDK. */
export type SentMessage =
  | { role: 'user'; content: (TextPart | ImagePart)[] }
  | { role: 'assistant'; content: SentPart[]; providerOptions?: Replay['providerOptions'] }
  | { role: 'tool'; content: ResultPart[] };

type Cached = { providerOptions?: Replay['providerOptions'] | typeof breakpoint };

/** Marks the end of the content cached by Anthropic; at most four of a request. Other providers cache by themselves, and get no mark. */
const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' as const } } };

/** System text and conversation in the form passed by the SDK to a provider. @throws ModelError EMODELREQUEST */
export function sentPrompt(
  { system, messages, model }: Pick<ModelRequest, 'system' | 'messages' | 'model'>,
  { isCached, sight, texts = new Map() }: { isCached: boolean; sight: Sight; texts?: FreeTexts },
) {
  const images = chooseImages(messages, { sight, model });
  const sent: (SentMessage & Cached)[] = withTexts(toSentMessages(messages, model, images), texts);
  refuseMissingResults(sent, model);
  const marked = isCached ? { providerOptions: breakpoint } : {};
  if (isCached) for (const index of turnEnds(sent)) sent[index] = { ...(sent[index] as SentMessage), ...marked };
  return system === '' ? sent : [{ role: 'system' as const, content: system, ...marked }, ...sent];
}

/** Calls of tools with a plain text have the text alone as their input. */
function withTexts(sent: readonly SentMessage[], texts: FreeTexts): SentMessage[] {
  if (texts.size === 0) return [...sent];
  return sent.map((message) => {
    if (message.role !== 'assistant') return message;
    return { ...message, content: message.content.map((part) => asText(part, texts)) };
  });
}

function asText(part: SentPart, texts: FreeTexts): SentPart {
  if (part.type !== 'tool-call' || typeof part.input === 'string') return part;
  const argument = texts.get(part.toolName);
  if (argument === undefined) return part;
  const text = part.input[argument];
  // A call that was recorded as a function has the id of a function.
  const { providerOptions: _, ...call } = part;
  return { ...call, input: typeof text === 'string' ? text : '' };
}

/** Providers refuse a call without its result. */
function refuseMissingResults(sent: readonly SentMessage[], model: string): void {
  const open = new Set<string>();
  for (const { role, content } of [...sent, { role: 'user' as const, content: [] }]) {
    if (role === 'tool') for (const { toolCallId } of content) open.delete(toolCallId);
    else if (role === 'assistant') for (const part of content) part.type === 'tool-call' && open.add(part.toolCallId);
    else if (open.size > 0) {
      const message = `${model} was not asked: no result is there of the calls ${[...open].slice(0, 5).join(', ')}`;
      throw new ModelError({ code: 'EMODELREQUEST', message, next: 'Give each call of an answer its result.' });
    }
  }
}

/**
 * The end of this conversation, and of the conversation before the last answer. The previous request ended at the second place, so its
 * cache entry is found even after an answer with many calls: Anthropic looks back only twenty parts.
 */
function turnEnds(sent: readonly SentMessage[]): number[] {
  const lastAnswer = sent.findLastIndex(({ role }) => role === 'assistant');
  return [...new Set([lastAnswer - 1, sent.length - 1])].filter((index) => index >= 0);
}

/**
 * Converts the conversation to the messages for `model`. An answer of the same model goes back unchanged. An answer of another model is
 * rebuilt from its text and calls: some providers refuse foreign reasoning, and characters of a foreign id may be forbidden.
 */
function toSentMessages(messages: readonly ModelMessage[], model: string, images: ChosenImages): SentMessage[] {
  const imagesInResults = takesImagesInResults(model);
  const flagsErrors = flagsErrorsOf(model);
  /** The sent id by Holdpoint's id, for the sent calls. */
  const ids = new Map<string, string>();
  const taken = usedIds(messages);
  return messages.flatMap((message): SentMessage[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: sentUser(message, images) }];
      case 'assistant':
        return [{ role: 'assistant', ...sentAnswer(message.answer, model, { ids, taken }) }];
      case 'tool':
        return sentResults(message.results, ids, { images, imagesInResults, flagsErrors });
      default:
        return message satisfies never;
    }
  });
}

type SentAnswer = Omit<SentMessage & { role: 'assistant' }, 'role'>;

/** `taken`: the ids of all calls, including rebuilt ids. */
interface Ids {
  ids: Map<string, string>;
  taken: Set<string>;
}

function sentAnswer(answer: ModelAnswer, model: string, known: Ids): SentAnswer {
  const { ids } = known;
  const replay = unpackReplay(answer, model);
  const parts = (replay?.parts ?? rebuilt(answer, known)).filter(isSaid);
  for (const part of parts) {
    if (part.type === 'tool-call' && !ids.has(part.toolCallId)) ids.set(part.toolCallId, part.toolCallId);
  }
  // No provider accepts an empty assistant message.
  const content: ReplayPart[] = parts.length > 0 ? parts : [{ type: 'text', text: '(no answer)' }];
  return replay?.providerOptions === undefined ? { content } : { content, providerOptions: replay.providerOptions };
}

/** Providers refuse an empty text; a text with a signature is not empty. */
const isSaid = (part: ReplayPart): boolean =>
  part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined;

function rebuilt(answer: ModelAnswer, { ids, taken }: Ids): ReplayPart[] {
  const text: ReplayPart[] = answer.text === '' ? [] : [{ type: 'text', text: answer.text }];
  const calls = answer.calls.map((call): ReplayPart => {
    const toolCallId = rebuiltId(ids.size, taken);
    ids.set(call.id, toolCallId);
    const input = call.invalid === undefined && isJsonObject(call.args) ? call.args : {};
    return { type: 'tool-call', toolCallId, toolName: call.tool, input };
  });
  return [...text, ...calls];
}

/** Continues the numbers of earlier calls: a longer conversation begins with the same bytes, and the provider's cache applies. */
function rebuiltId(from: number, taken: Set<string>): string {
  for (let n = from; ; n++) {
    const id = `rebuilt_${n}`;
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}

/** The result of an unsent call, dropped by the provider, becomes a user message: providers refuse a result without its call. */
function sentResults(
  results: readonly Result[],
  ids: Map<string, string>,
  { images, imagesInResults, flagsErrors }: { images: ChosenImages; imagesInResults: boolean; flagsErrors: boolean },
): SentMessage[] {
  const content: ResultPart[] = [];
  const orphans: string[] = [];
  const apart: (TextPart | ImagePart)[] = [];
  for (const result of results) {
    const toolCallId = ids.get(result.id);
    const shown = withImages({ text: worded(result), images: result.images }, images);
    const value = shown?.text ?? worded(result);
    if (toolCallId === undefined) {
      orphans.push(`Result of your call ${result.tool}: ${value}`);
      continue;
    }
    const type = result.is_error && flagsErrors ? 'error-text' : 'text';
    const files = shown?.files ?? [];
    const isWhole = files.length > 0 && imagesInResults;
    // Words in the place of an image need no list of parts, which some formats would send as JSON.
    const output: ResultPart['output'] = isWhole ? { type: 'content', value: partsOf(value, files) } : { type, value };
    content.push({ type: 'tool-result', toolCallId, toolName: result.tool, output });
    if (files.length > 0 && !isWhole) {
      const what = files.every(({ mediaType }) => mediaType.startsWith('image/')) ? 'Images' : 'Files';
      apart.push(...partsOf(`${what} of the result of ${result.tool}:`, files));
    }
  }
  const sent: SentMessage[] = [];
  if (content.length > 0) sent.push({ role: 'tool', content });
  if (orphans.length > 0) sent.push({ role: 'user', content: [{ type: 'text', text: orphans.join('\n') }] });
  if (apart.length > 0) sent.push({ role: 'user', content: apart });
  return sent;
}

/** In Chat Completions results are text, so their images follow as a message of the user. */
function takesImagesInResults(model: string): boolean {
  const { provider } = parseModelName(model);
  return provider === 'openai' || provider === 'anthropic' || provider === 'google';
}

/** Formats with a place for errors. OpenAI's formats have none: the SDK would wrap the text in JSON, and escape all of it. */
function flagsErrorsOf(model: string): boolean {
  const { provider } = parseModelName(model);
  return provider === 'anthropic' || provider === 'google';
}

/** Results for OpenAI have no error flag, so the text must name the error. The words of a person may stand before the line of the error. */
function worded(result: Result): string {
  return result.is_error && !/^error\b/im.test(result.text) ? `Error: ${result.text}` : result.text;
}

/** `undefined`: there are none. */
function withImages(
  { text, images = [] }: { text: string; images?: readonly ModelImage[] | undefined },
  chosen: ChosenImages,
): { text: string; files: ImagePart[] } | undefined {
  if (images.length === 0) return undefined;
  const sent = images.map((image) => chosen(image));
  const words = sent.filter((part) => typeof part === 'string');
  return { text: [text, ...words].join('\n'), files: sent.filter((part) => typeof part !== 'string') };
}

function sentUser(message: ModelMessage & { role: 'user' }, chosen: ChosenImages): (TextPart | ImagePart)[] {
  const { text, files } = withImages(message, chosen) ?? { text: message.text, files: [] };
  return partsOf(text, files);
}

const partsOf = (text: string, files: readonly ImagePart[]): (TextPart | ImagePart)[] => [
  { type: 'text', text },
  ...files,
];
