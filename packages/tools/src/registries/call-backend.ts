import type { Json } from '@holdpoint/contract';

export interface BackendCall {
  toolset: string;
  tool: string;
  args: Json;
  /** Whether it may run beside other calls that are made while it runs. @default false */
  concurrent?: boolean;
  /** Aborting it ends the call. */
  signal?: AbortSignal | undefined;
}

/**
 * Where the calls of a registry run: an open run, which gives them the gate, the sandbox and the log. `openRunBackend` of
 * `@holdpoint/client` is one.
 */
export interface CallBackend {
  /** The contract's own result of the call, whatever settled it. */
  call(call: BackendCall): Promise<Json>;
}
