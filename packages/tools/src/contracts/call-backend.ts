import type { Json } from '@holdpoint/contract';

export interface BackendCall {
  toolset: string;
  tool: string;
  args: Json;
  /** Whether the call may run concurrently with other calls made while the call runs. @default false */
  concurrent?: boolean;
  /** An abort ends the call. */
  signal?: AbortSignal | undefined;
}

/**
 * The place of a registry's calls: an open run, with the gate, the sandbox and the log. `openRunBackend` of `@holdpoint/client` is such a
 * backend.
 */
export interface CallBackend {
  /** The contract's own result of the call, for every way to settle. */
  call(call: BackendCall): Promise<Json>;
}
