import type { Json } from '@holdpoint/contract';
import type { BackendCall, CallBackend } from '../contracts/built-in-tools.ts';

/** A recorded call, and its end. Neither `result` nor `error`: the call still runs. */
export interface ChronicleCall {
  toolset: string;
  tool: string;
  args: Json;
  /** The contract's own result. */
  result?: Json;
  /** The error thrown by the backend. */
  error?: unknown;
}

/** A backend of registries with a record of the tools' work. */
export interface Chronicle extends CallBackend {
  /** Every call, in the order they were made. */
  calls: readonly ChronicleCall[];
}

/** @param backend the place of the calls, for example an open run (`openRunBackend`); or a function with the answers, for a test without a system */
export function chronicle(backend: CallBackend | ((call: BackendCall) => Json | Promise<Json>)): Chronicle {
  const calls: ChronicleCall[] = [];
  const answer = typeof backend === 'function' ? backend : (call: BackendCall) => backend.call(call);
  return {
    calls,
    async call(call) {
      const { toolset, tool, args } = call;
      // A copy: the caller may change its arguments later.
      const entry: ChronicleCall = { toolset, tool, args: structuredClone(args) };
      calls.push(entry);
      try {
        const result = await answer(call);
        entry.result = structuredClone(result);
        return result;
      } catch (error) {
        entry.error = error;
        throw error;
      }
    },
  };
}
