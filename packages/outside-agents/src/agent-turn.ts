import type { Problem } from '@holdpoint/contract';
import type { ModelAnswer, ModelTool, ProviderAddress } from '@holdpoint/models';
import type { EndedCall } from './asked-calls.ts';
import type { Asked } from './drivers/driver.ts';
import type { ModelWay } from './model-way/model-way.ts';
import type { CallAgain } from './native/hook-gate.ts';
import type { SessionChange } from './session/session.ts';
import type { CallText } from './tools-server.ts';

export interface Beginning extends Pick<Asked, 'system' | 'prompt' | 'retold'> {
  /** `claude-code`, …, `acp:COMMAND`. */
  agent: string;
  session: SavedSession | undefined;
  /** Ended calls whose results the session lacks. The prompt has them. */
  untold: readonly EndedCall[];
  /** Set for an agent that keeps its own tools. */
  native?:
    | {
        /** Results of the calls of earlier turns, by the agent's ids. */
        ended: ReadonlyMap<string, CallText>;
        /** The open call, for the agent to make again. */
        again?: CallAgain | undefined;
        /** For an agent that starts from its open call and so gets no prompt. */
        words: readonly string[];
      }
    | undefined;
  address: ProviderAddress;
  tools: readonly ModelTool[];
  /** The Node of the sandbox. */
  node: string;
  version: string;
}

/** The session of an agent as the log has it. */
export interface SavedSession {
  id: string;
  /** All changes, in order. */
  changes: readonly SessionChange[];
  /** Names this state. */
  state: string;
  /** The agent ended with an open call. A start of the session asks for the same call. */
  isDeferred: boolean;
}

interface PlannedCall {
  id: string;
  tool: string;
  args: Record<string, unknown>;
  /** The call settles with this error. */
  error?: Problem | undefined;
}

/** The agent's calls or answer, with its session at that moment. */
export interface AgentTurn {
  /** The agent's words since its turn before. */
  text: string;
  /** None: the text is its answer. */
  calls: PlannedCall[];
  usage: ModelAnswer['usage'];
  session: {
    /** Empty: there is none to load. */
    id: string;
    /** Undefined: it was lost. */
    change: SessionChange | undefined;
    state: string;
    /** The session began with this change. */
    isFirst: boolean;
    isDeferred: boolean;
    /** The ids of the log by the ids of the agent. */
    names: Record<string, string>;
  };
  /** The process has ended, or is of no more use. */
  isOver: boolean;
}

export interface AskedTurn extends Pick<ModelWay, 'whyOver'> {
  signal: AbortSignal;
  onText(text: string): void;
  /** Whether a person will be asked about a call of the agent's own tools. */
  holds?(call: { tool: string; args: Record<string, unknown> }): boolean;
}
