import type { LanguageModelMiddleware } from 'ai';
import type { CutUsage } from './cut-usage.ts';
import { unusableAnswer } from './errors.ts';
import type { ModelDelta } from './port.ts';

type Wrap = NonNullable<LanguageModelMiddleware['wrapStream']>;
export type PartStream = Awaited<ReturnType<Wrap>>['stream'];
type StreamPart = PartStream extends ReadableStream<infer Part> ? Part : never;
type Answer = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapGenerate']>>>;
type Content = Answer['content'][number];
type Metadata = (Content & { type: 'text' })['providerMetadata'];
type Prose = { type: 'text' | 'reasoning'; text: string; providerMetadata?: Metadata };
/** A partly arrived call. */
type OpenCall = { type: 'open-call'; at: number; index: number; id: string; toolName: string; input: string };

/** Characters of text, arguments and metadata: as many as the bytes of a whole answer. */
const mostCharacters = 2 * 1024 * 1024;
const mostParts = 10_000;

/** A stream with an error, or without its end. */
export class StreamFailure extends Error {
  override readonly name = 'StreamFailure';
  /** The last data of the provider in place of the rest, if any. */
  readonly sent: unknown;

  constructor(message: string, sent: unknown, options?: ErrorOptions) {
    super(message, options);
    this.sent = sent;
  }
}

/** Reads a stream to its end. Each part stands at the place of its beginning, as in an answer without a stream. */
export async function foldStream(stream: PartStream, onDelta: (delta: ModelDelta) => void, used: CutUsage) {
  const fold = new Fold((delta) => {
    used.delta(delta);
    onDelta(delta);
  });
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return fold.end();
      if (value.type === 'raw') used.event(value.rawValue);
      fold.add(value);
    }
  } finally {
    // After an error the rest must not arrive.
    reader.cancel().catch(() => {});
  }
}

class Fold {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #content: (Content | OpenCall)[] = [];
  readonly #prose = new Map<string, Prose>();
  /** Several calls may have the same id. */
  readonly #open = new Map<string, OpenCall[]>();
  readonly #ids = new Set<string>();
  #calls = 0;
  #characters = 0;
  #warnings: Answer['warnings'] = [];
  #answered: { id?: string | undefined; modelId?: string | undefined; timestamp?: Date | undefined } = {};
  #finish: (StreamPart & { type: 'finish' }) | undefined;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  add(part: StreamPart): void {
    switch (part.type) {
      case 'text-start':
        this.#begin('text', part);
        return;
      case 'reasoning-start':
        this.#begin('reasoning', part);
        return;
      case 'text-delta':
        this.#continue('text', part);
        return;
      case 'reasoning-delta':
        this.#continue('reasoning', part);
        return;
      case 'text-end':
      case 'reasoning-end':
        this.#describe(this.#prose.get(part.id), part.providerMetadata);
        this.#prose.delete(part.id);
        return;
      case 'tool-input-start':
        this.#openCall(part.id, part.toolName);
        return;
      case 'tool-input-delta':
        this.#continueCall(part.id, part.delta);
        return;
      case 'tool-call':
        this.#endCall(part);
        return;
      case 'raw':
        this.#noteIds(part.rawValue);
        return;
      case 'stream-start':
        this.#warnings = part.warnings;
        return;
      case 'response-metadata': {
        const { type: _type, ...answered } = part;
        this.#answered = { ...this.#answered, ...answered };
        return;
      }
      case 'finish':
        this.#finish = part;
        return;
      case 'error':
        throw failureOf(part.error);
      default:
        // Sources, files and results of the provider's own tools: Holdpoint offers no such tools.
        return;
    }
  }

  end() {
    const finish = this.#finish;
    if (finish === undefined || finish.finishReason.unified === 'interrupted') throw cutOff();
    const content = this.#content.map((part): Content => {
      if (part.type !== 'open-call') return part;
      // The output limit may end a call before its last part.
      if (finish.finishReason.unified !== 'length') throw cutOff();
      return { type: 'tool-call', toolCallId: part.id, toolName: part.toolName, input: part.input };
    });
    const { finishReason, usage, providerMetadata } = finish;
    const body = [...this.#ids];
    return { content, finishReason, usage, providerMetadata, warnings: this.#warnings, answered: this.#answered, body };
  }

  #begin(type: Prose['type'], { id, providerMetadata }: { id: string; providerMetadata?: Metadata }): Prose {
    const prose: Prose = { type, text: '' };
    this.#push(prose);
    this.#prose.set(id, prose);
    this.#describe(prose, providerMetadata);
    return prose;
  }

  #continue(type: Prose['type'], part: { id: string; delta: string; providerMetadata?: Metadata }): void {
    const prose = this.#prose.get(part.id) ?? this.#begin(type, { id: part.id });
    this.#describe(prose, part.providerMetadata);
    if (part.delta === '') return;
    this.#count(part.delta.length);
    prose.text += part.delta;
    this.#onDelta({ type, text: part.delta });
  }

  /** Later metadata adds to earlier: a signature arrives at the end of the signed part. */
  #describe(prose: Prose | undefined, metadata: Metadata): void {
    if (prose === undefined || metadata === undefined) return;
    this.#count(JSON.stringify(metadata).length);
    const before = prose.providerMetadata;
    prose.providerMetadata = Object.fromEntries(
      Object.entries({ ...before, ...metadata }).map(([name, value]) => [name, { ...before?.[name], ...value }]),
    );
  }

  #openCall(id: string, toolName: string): OpenCall {
    const call: OpenCall = {
      type: 'open-call',
      at: this.#content.length,
      index: this.#calls++,
      id,
      toolName,
      input: '',
    };
    this.#push(call);
    this.#open.set(id, [...(this.#open.get(id) ?? []), call]);
    this.#onDelta({ type: 'call', index: call.index, tool: toolName, args: '' });
    return call;
  }

  #continueCall(id: string, delta: string): void {
    const call = this.#open.get(id)?.[0];
    if (call === undefined || delta === '') return;
    this.#count(delta.length);
    call.input += delta;
    this.#onDelta({ type: 'call', index: call.index, args: delta });
  }

  #endCall(part: StreamPart & { type: 'tool-call' }): void {
    const call = this.#open.get(part.toolCallId)?.[0] ?? this.#openCall(part.toolCallId, part.toolName);
    if (call.input === '') this.#continueCall(part.toolCallId, part.input);
    this.#count(JSON.stringify(part.providerMetadata ?? '').length);
    this.#content[call.at] = part;
    this.#open.get(part.toolCallId)?.shift();
  }

  #noteIds(event: unknown): void {
    for (const id of idsIn(event)) this.#ids.add(id);
  }

  #push(part: Content | OpenCall): void {
    if (this.#content.push(part) > mostParts) throw unusableAnswer(`has more than ${mostParts} parts`);
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > mostCharacters) throw unusableAnswer(`has more than ${mostCharacters} characters`);
  }
}

const cutOff = () => new StreamFailure('the stream ended early', undefined);

/** The SDK hands on the provider's error data, or its own error about the data. */
function failureOf(error: unknown): unknown {
  if (error instanceof Error) return error;
  const message = (error as { message?: unknown } | null)?.message;
  return new StreamFailure(typeof message === 'string' ? message : 'the provider reported an error', error);
}

/** The ids in an event, without recursion: the event may be nested deeply. */
function* idsIn(event: unknown): Iterable<string> {
  const open: unknown[] = [event];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'object') open.push(inner);
      else if (typeof inner === 'string' && /^(?:call_)?id$/i.test(key)) yield inner;
    }
  }
}
