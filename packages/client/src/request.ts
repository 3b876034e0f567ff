import { problemDetailsSchema } from '@holdpoint/contract/wire';
import { Agent, type RequestInit, type Response, fetch as undiciFetch } from 'undici';
import { z } from 'zod';
import { ApiError, ConnectionError } from './errors.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Transport {
  send(request: Request): Promise<Response>;
  /** Sends and reads the answer. @throws ApiError, ConnectionError */
  ask<Answer>(request: Request, schema: z.ZodType<Answer>): Promise<{ status: number; body: Answer }>;
  askText(request: Request): Promise<string>;
  /** The answer's bytes as they arrive. An incomplete answer is a ConnectionError. */
  askBytes(request: Request): Promise<AsyncGenerator<Uint8Array>>;
  /** The error for an incomplete answer. */
  lost(cause: unknown): ConnectionError;
  close(): Promise<void>;
}

export interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal | undefined;
}

/** A request waits for 60 s at most, a quiet stream carries a heartbeat every 15 s: after 75 s of silence the server is gone. */
const silence = 75_000;

export function openTransport(options: { baseUrl: string; key: string; fetch?: Fetch | undefined }): Transport {
  const agent = new Agent({ headersTimeout: silence, bodyTimeout: silence });
  const fetch: Fetch = options.fetch ?? ((url, init) => undiciFetch(url, { ...init, dispatcher: agent }));
  const baseUrl = options.baseUrl.replace(/\/+$/, '');

  const guard = async <Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ApiError) throw error;
      signal?.throwIfAborted();
      throw new ConnectionError(baseUrl, error);
    }
  };
  const send: Transport['send'] = (request) =>
    guard(request.signal, async () => {
      const response = await fetch(`${baseUrl}${request.path}${queryOf(request.query)}`, initOf(request, options.key));
      if (!response.ok) throw await refusal(response);
      return response;
    });
  return {
    send,
    async ask(request, schema) {
      const response = await send(request);
      const text = await guard(request.signal, () => response.text());
      return { status: response.status, body: read(schema, text, response.status) };
    },
    async askText(request) {
      const response = await send(request);
      return guard(request.signal, () => response.text());
    },
    async askBytes(request) {
      const response = await send(request);
      return bytesOf(response, (cause) => {
        request.signal?.throwIfAborted();
        return new ConnectionError(baseUrl, cause);
      });
    },
    lost: (cause) => new ConnectionError(baseUrl, cause),
    close: () => agent.close(),
  };
}

async function* bytesOf(response: Response, lost: (cause: unknown) => ConnectionError): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw lost(cause);
      });
      if (done) return;
      yield value;
    }
  } finally {
    // Ends the request when the consumer stops early; no-op when all was read.
    await reader.cancel().catch(() => undefined);
  }
}

function initOf({ method = 'GET', body, headers = {}, signal }: Request, key: string): RequestInit {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    method,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(given),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    redirect: 'error',
  };
}

function queryOf(query: Request['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

async function refusal(response: Response): Promise<ApiError> {
  const text = await response.text();
  const problem = problemDetailsSchema.loose().safeParse(fromJson(text));
  if (problem.success) return new ApiError(problem.data);
  return new ApiError({
    code: 'unexpected_answer',
    status: response.status,
    detail: `the server answered ${response.status} and not with a problem of this API`,
    next: 'Check that the address is that of a Holdpoint API.',
  });
}

/** @throws ApiError `unexpected_answer` */
export function read<Answer>(schema: z.ZodType<Answer>, text: string, status: number): Answer {
  const parsed = schema.safeParse(fromJson(text));
  if (parsed.success) return parsed.data;
  throw new ApiError(
    {
      code: 'unexpected_answer',
      status,
      detail: `the answer is not what this client knows: ${z.prettifyError(parsed.error)}`,
      next: 'Use a client and a server of the same version.',
    },
    { cause: parsed.error },
  );
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
