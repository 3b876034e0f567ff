import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Failure, ModelAnswer, ProviderAddress } from '@holdpoint/models';
import type { CommandEgress } from '@holdpoint/sandbox';
import type { ToolUses } from './tool-uses.ts';
import { addUsage, noUsage, UsageReader } from './usage.ts';

export interface ModelWayOptions {
  /** Requests for another model are refused. */
  address: ProviderAddress;
  fetch: typeof globalThis.fetch;
  /** Reads the calls in the model's answers. */
  uses?: ToolUses | undefined;
  /** Called with the calls that the agent made without their release. Its request does not pass. */
  onUnreleased?(ids: readonly string[]): void;
  isReleased?(id: string): boolean;
}

/** Requests that ask a model. Files, batches and every other path of a provider are refused. */
const paths: readonly RegExp[] = [
  /^\/v1\/messages(\/count_tokens)?$/,
  /^\/v1\/responses(\/compact)?$/,
  /^\/v1\/chat\/completions$/,
  /^\/v1beta\/models\/[\w.-]+:(generateContent|streamGenerateContent|countTokens)$/,
];

const mostBody = 64 * 1024 * 1024;
const mostAtOnce = 8;

/** Headers that reach the provider. The agent's own key is none of them. */
const passed = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta', 'user-agent'];
const returned = ['content-type', 'retry-after', 'retry-after-ms', 'request-id', 'x-request-id'];

/**
 * The only network of an agent: requests to its model, over plain HTTP on the loopback of its sandbox. The worker sends them to the provider with the operator's
 * key, which no sandbox has, and counts their tokens.
 */
export class ModelWay implements CommandEgress {
  readonly #options: ModelWayOptions;
  readonly #http = createServer((request, response) => void this.#serve(request, response));
  readonly #open = new Set<Socket>();
  #used = noUsage;
  #requests = 0;
  #hasPassed = false;
  #refusal: string | undefined;
  #failure: Failure | undefined;

  constructor(options: ModelWayOptions) {
    this.#options = options;
  }

  environment(): Record<string, string> {
    return {};
  }

  serve(server: Server): () => void {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      this.#http.emit('connection', socket);
    });
    return () => {
      server.close();
      for (const socket of this.#open) socket.destroy();
    };
  }

  /** The reason when no more requests pass, by the tokens since `takeUsed`; undefined while they may. */
  whyOver: (used: ModelAnswer['usage']) => string | undefined = betweenTurns;
  /** The time of the last request or answer, in milliseconds of `performance.now`. */
  lastAt = performance.now();

  /** Lets requests pass for a turn. */
  open(whyOver: ModelWay['whyOver']): void {
    this.whyOver = whyOver;
    this.lastAt = performance.now();
  }

  /** Lets no more requests begin: between two turns nothing counts their tokens. */
  close(): void {
    this.whyOver = betweenTurns;
  }

  /** A request has no answer yet. */
  get isAsked(): boolean {
    return this.#requests > 0;
  }

  /** A request went to the provider. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /** The tokens since the last call. */
  takeUsed(): ModelAnswer['usage'] {
    const used = this.#used;
    this.#used = noUsage;
    return used;
  }

  /** The last refusal of the provider or of this way; undefined after an answer. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** The last failure of the provider; undefined after an answer. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*$/s, '');
    const refuse = (status: number, message: string): void => {
      this.#refusal = message;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error: { type: 'permission_error', message } }));
    };
    if (request.method !== 'POST' || !paths.some((one) => one.test(path))) {
      // Agents look for lists of models, accounts and news; a refusal of those is no news for a person.
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ type: 'error', error: { message: 'Only requests to the model of this run pass.' } }),
      );
      return;
    }
    this.lastAt = performance.now();
    const over = this.whyOver(this.#used);
    if (over !== undefined) return refuse(403, over);
    if (this.#requests >= mostAtOnce) return refuse(429, `More than ${mostAtOnce} requests at once.`);
    this.#requests += 1;
    try {
      const body = await read(request);
      if (body === undefined) return refuse(413, `The request has more than ${mostBody} bytes.`);
      const model = modelOf(path, body);
      const { model: own } = this.#options.address;
      if (model !== own) return refuse(403, `This run asks ${own}, not ${String(model).slice(0, 100)}.`);
      const unreleased = this.#unreleased(body);
      if (unreleased.length > 0) {
        this.#options.onUnreleased?.(unreleased);
        return refuse(403, 'The agent made a call without asking.');
      }
      await this.#forward(request, response, body);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!response.destroyed && !response.headersSent)
        this.#failure = { kind: 'unreachable', headers: {}, body: '', message };
      if (response.headersSent) response.destroy();
      else refuse(502, `The model could not be asked: ${message}`);
    } finally {
      this.lastAt = performance.now();
      this.#requests -= 1;
    }
  }

  #unreleased(body: Buffer): string[] {
    const { uses, isReleased } = this.#options;
    if (uses === undefined || isReleased === undefined) return [];
    return uses.unreleased(body.toString('utf8'), isReleased);
  }

  async #forward(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const { address, fetch } = this.#options;
    this.#hasPassed = true;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const headers = pick(passed, (name) => [request.headers[name]].flat().join(', ') || undefined);
    const answer = await fetch(`${address.base}${(request.url ?? '').replace(/^\/v1(beta)?/, '')}`, {
      method: 'POST',
      headers: { ...headers, ...address.headers },
      body: new Uint8Array(body),
      redirect: 'error',
      // The end of the agent closes its connections.
      signal: gone.signal,
    });
    response.writeHead(
      answer.status,
      pick(returned, (name) => answer.headers.get(name) ?? undefined),
    );
    const isStream = /^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '');
    const counting = new UsageReader({ isStream });
    const calls = this.#options.uses?.openAnswer({ isStream });
    const text = new TextDecoder();
    let words = '';
    try {
      for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        counting.push(chunk);
        calls?.push(text.decode(chunk, { stream: true }));
        if (!answer.ok && words.length < 1000) words += Buffer.from(chunk).toString('utf8');
        if (!response.write(chunk))
          await new Promise((drained) => response.once('drain', drained).once('close', drained));
      }
      calls?.end();
      response.end();
    } finally {
      this.#used = addUsage(this.#used, counting.end());
      const { ok, status } = answer;
      this.#refusal = ok ? undefined : `${status} ${words.slice(0, 1000)}`;
      const retryAfter = pick(returned, (name) => answer.headers.get(name) ?? undefined);
      this.#failure = ok ? undefined : { kind: 'refused', status, headers: retryAfter, body: words, message: words };
    }
  }
}

const betweenTurns = (): string => 'The agent waits for its calls, and asks no model until they have ended.';

async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The asked model: in the path for Google, in the body for the others. */
function modelOf(path: string, body: Buffer): unknown {
  const inPath = /\/models\/([^:]+):/.exec(path)?.[1];
  if (inPath !== undefined) return inPath;
  const { model } = JSON.parse(body.toString('utf8')) as { model?: unknown };
  return model;
}

function pick(names: readonly string[], lookUp: (name: string) => string | undefined): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = lookUp(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
