import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelTool } from '@holdpoint/models';
import type { Command } from '@holdpoint/sandbox';
import type { Conversation, Converse } from '@holdpoint/tools';
import { z } from 'zod';
import { type AgentStart, home } from './drivers/driver.ts';
import { readLine } from './read-line.ts';
import type { SessionChange } from './session/session.ts';
import { type AskedCall, serveTools } from './tools-server.ts';

/** Starts a command in the run's sandbox, and gives its conversation to `talk`. */
export type RunInside = (
  command: Pick<Command, 'argv' | 'env' | 'egress' | 'limits' | 'tmp_bytes'>,
  talk: (conversation: Conversation) => Promise<void>,
  stop: AbortSignal,
) => ReturnType<Converse>;

interface LauncherOptions {
  runInside: RunInside;
  /** The Node of the sandbox. */
  node: string;
  egress: NonNullable<Command['egress']>;
  tools: readonly ModelTool[];
  version: string;
  onCall(call: AskedCall): void;
  /** Called with each request of the agent's hooks. `answer` sends the answer, as JSON. */
  onHook(body: string, answer: (answer: object) => void): void;
  /** Called when the agent opened more connections to our tools than an agent needs. */
  onTooMany(what: string): void;
}

const program = readFileSync(join(import.meta.dirname, 'inside/main.ts'), 'utf8');
const daySeconds = 86_400;
const mostConnections = 16;
const saveMs = 20_000;
const mebibyte = 1024 * 1024;

const saidSchema = z.discriminatedUnion('said', [
  z.object({ said: z.literal('output'), line: z.string() }),
  z.object({ said: z.literal('tools'), connection: z.int(), line: z.string() }),
  z.object({ said: z.literal('tools_closed'), connection: z.int() }),
  z.object({ said: z.literal('hook'), id: z.int(), body: z.string() }),
  z.object({ said: z.literal('saved'), id: z.int(), files: z.int().optional(), data: z.base64().optional() }),
  z.object({ said: z.literal('ended'), code: z.int().nullable(), why: z.string(), words: z.string() }),
]);
type Said = z.infer<typeof saidSchema>;

/** The program that starts an agent in the sandbox, and the worker's end of all that passes between the worker and the agent. */
export class Launcher {
  /** Resolves to the reason when no process is left. */
  readonly ended: Promise<string>;
  /** The last words of an agent that ended by itself. */
  end: { code: number | null; why: string; words: string } | undefined;
  readonly #options: LauncherOptions;
  readonly #stop = new AbortController();
  readonly #output = new LineQueue();
  readonly #servers = new Map<number, ReturnType<typeof serveTools>>();
  readonly #saves = new Map<number, (saved: SavedFiles | undefined) => void>();
  /** Resolves when the agent has ended; its sandbox still answers. */
  readonly agentEnded: Promise<void>;
  #onAgentEnd = () => {};
  #conversation: Conversation | undefined;
  #isOver = false;
  #number = 0;

  /** @param begin called when the launcher takes orders */
  constructor(options: LauncherOptions, begin: (launcher: Launcher) => void) {
    this.#options = options;
    this.agentEnded = new Promise((resolve) => {
      this.#onAgentEnd = resolve;
    });
    const { runInside, node, egress } = options;
    const running = runInside(
      {
        argv: [
          node,
          '--input-type=module-typescript',
          '--disable-warning=ExperimentalWarning',
          '--eval',
          program,
          home,
        ],
        egress,
        limits: { wall_ms: daySeconds * 1000, cpu_seconds: daySeconds, cpu_total_seconds: daySeconds },
        tmp_bytes: 1024 * mebibyte,
      },
      async (conversation) => {
        this.#conversation = conversation;
        begin(this);
        for (let line = await conversation.receive(); line !== undefined; line = await conversation.receive()) {
          const said = readLine(saidSchema, line);
          if (said !== undefined) this.#hear(said);
        }
      },
      this.#stop.signal,
    );
    this.ended = running
      .then(
        ({ talk, stderr, end }) =>
          talk.status === 'rejected' ? wordsOf(talk.reason) : stderr.trim() || (end?.status ?? 'It was ended.'),
        wordsOf,
      )
      .finally(() => this.#over());
  }

  /** Aborted when the worker ends the agent. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  start({ argv, cwd = '/workspace', env, files, kept }: AgentStart, session: ReadonlyMap<string, Buffer>): void {
    const given = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const);
    const all = [...session, ...given].map(([path, content]) => [path, content.toString('base64')]);
    this.#order({ order: 'start', argv, cwd, env, kept, files: Object.fromEntries(all) });
  }

  /** Writes a line to the agent's input. */
  send(line: string): void {
    this.#order({ order: 'input', line });
  }

  endInput(): void {
    this.#order({ order: 'end_input' });
  }

  /** The next line of the agent's output; undefined after the last. */
  receive(): Promise<string | undefined> {
    return this.#output.next();
  }

  /** The changes of the session's files since the last call; undefined when they cannot be read. */
  save(): Promise<SavedFiles | undefined> {
    return new Promise((resolve) => {
      if (this.#isOver) return resolve(undefined);
      this.#number += 1;
      const id = this.#number;
      const timer = setTimeout(() => settle(undefined), saveMs);
      const settle = (saved: SavedFiles | undefined) => {
        clearTimeout(timer);
        this.#saves.delete(id);
        resolve(saved);
      };
      this.#saves.set(id, settle);
      this.#order({ order: 'save', id });
    });
  }

  /** Ends every process. */
  kill(): void {
    this.#stop.abort();
  }

  #over(): void {
    this.#isOver = true;
    this.#onAgentEnd();
    this.#output.end();
    for (const server of this.#servers.values()) server.close();
    for (const settle of this.#saves.values()) settle(undefined);
  }

  #hear(said: Said): void {
    switch (said.said) {
      case 'output':
        this.#output.push(said.line);
        break;
      case 'tools':
        this.#serverOf(said.connection)?.receive(said.line);
        break;
      case 'tools_closed':
        this.#servers.get(said.connection)?.close();
        this.#servers.delete(said.connection);
        break;
      case 'hook': {
        const { id, body } = said;
        this.#options.onHook(body, (answer) => this.#order({ order: 'hook', id, body: JSON.stringify(answer) }));
        break;
      }
      case 'saved': {
        const { id, files = 0, data } = said;
        this.#saves.get(id)?.(data === undefined ? undefined : { hasFiles: files > 0, change: { data } });
        break;
      }
      case 'ended':
        this.end = said;
        this.#output.end();
        this.#onAgentEnd();
    }
  }

  #serverOf(connection: number): ReturnType<typeof serveTools> | undefined {
    const known = this.#servers.get(connection);
    if (known !== undefined) return known;
    const { tools, version, onCall, onTooMany } = this.#options;
    if (this.#servers.size >= mostConnections) {
      onTooMany(`${mostConnections} connections to our tools`);
      return undefined;
    }
    const send = (line: string) => this.#order({ order: 'tools', connection, line });
    const server = serveTools({ tools, version }, { send, onCall });
    this.#servers.set(connection, server);
    return server;
  }

  #order(order: object): void {
    this.#conversation?.send(JSON.stringify(order));
  }
}

/** The session's files at a moment. */
interface SavedFiles {
  hasFiles: boolean;
  change: SessionChange;
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Lines for one reader. */
class LineQueue {
  readonly #lines: string[] = [];
  #isOver = false;
  #wake = () => {};

  push(line: string): void {
    this.#lines.push(line);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift();
  }
}
