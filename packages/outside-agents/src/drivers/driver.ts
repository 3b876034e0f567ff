import type { Failure, ProviderAddress } from '@holdpoint/models';

/** The agent's home in the sandbox. */
export const home = '/tmp/holdpoint';

/** Stands for the key in the agent's settings. The worker puts the real key into each request. */
export const placeholderKey = 'held-by-holdpoint';

/** The name of our tools' server in the agent's settings. */
export const serverName = 'holdpoint';

export interface Asked {
  /** The way to the model: `http://127.0.0.1:PORT`, without a path. */
  modelUrl: string;
  address: Pick<ProviderAddress, 'provider' | 'model'>;
  /** Said to the agent before its prompt. */
  system: string;
  prompt: string;
  /** The whole story so far, for an agent that cannot load its session. */
  retold: string;
  /** The session to continue. Undefined: a new one. */
  session: string | undefined;
  /** The names of our tools, or, with `native`, of its own. */
  tools: readonly string[];
  /** It keeps its own tools, and its hooks ask before each call. */
  native: boolean;
  /** Its session ended with a call open: the agent asks for this call again before anything else, and needs no prompt. */
  isDeferred: boolean;
}

/** How the agent is started. */
export interface AgentStart {
  argv: string[];
  /** @default /workspace */
  cwd?: string;
  env: Record<string, string>;
  /** Texts of files below the agent's home. */
  files: Record<string, string>;
  /** Files and folders below its home that hold its session. */
  kept: readonly string[];
}

/** The lines of the agent, and where its words go. */
export interface AgentLines {
  send(line: string): void;
  endInput(): void;
  /** The next line; undefined after the last. */
  receive(): Promise<string | undefined>;
  /** Called with the words of the agent as they come. */
  onText(text: string): void;
  /** Called with the id of the session, as soon as it is known. */
  onSession(id: string): void;
}

export interface AgentDriver {
  start(asked: Asked): AgentStart;
  /** Speaks with the agent until it ends its turn. @throws AgentError */
  talk(lines: AgentLines, asked: Asked): Promise<void>;
  /**
   * The calls whose results are in the files of a session, by the agent's ids and by the ids in its prompts. Not set for an agent whose files are not read.
   */
  resultsIn?(files: ReadonlyMap<string, Buffer>): ReadonlySet<string>;
}

/** Where the hooks of an agent in mode native are answered, on the loopback of its sandbox. */
export const hooksUrl = 'http://127.0.0.1:3130/';

/** The agent cannot continue. */
export class AgentError extends Error {
  override name = 'AgentError';
  /** The last failed request to its model, when no request has succeeded since. */
  readonly failure: Failure | undefined;
  /** @default EAGENTFAILED */
  readonly code: string | undefined;

  constructor(message: string, failure?: Failure, code?: string) {
    super(message);
    this.failure = failure;
    this.code = code;
  }
}

/** Names an ended call in a prompt. A driver finds the name in the session. */
export const callHeading = (id: string): string => `## Call ${id}:`;
const heading = /^## Call ([\w.:-]{1,120}):/gm;

/** The ended calls that a prompt names. */
export const namedCalls = (prompt: string): string[] => [...prompt.matchAll(heading)].map(([, id = '']) => id);

/** The program between the agent and our tools, as in the settings of the agents. */
export const bridge = { command: '/bin/sh', args: ['-c', `exec node ${home}/bridge.mjs`] };

/** The longest wait of an agent for a call. The worker ends a waiting agent long before, and resumes its session. */
export const callSeconds = 7 * 86_400;
