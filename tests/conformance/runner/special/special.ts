import type { Json } from '@holdpoint/contract';
import type { StepDetail } from '@holdpoint/contract/wire';
import type { Case } from '../case.ts';
import type { Decider } from '../decider.ts';
import type { Found } from '../match.ts';
import type { OpenRun } from '../open-run.ts';
import type { Bench } from '../system.ts';
import type { Adapter } from '../toolsets/adapter.ts';

/** The parts for a call of a case. */
export interface Scene {
  bench: Bench;
  run: OpenRun;
  adapter: Adapter;
  toolset: string;
  decider: Decider;
}

export interface Made {
  native: Found;
  ok: boolean;
  /** The steps of the call; none without a call of a tool. */
  steps: readonly StepDetail[];
}

/** A call with a name starting with `$`: a request for more than a tool. */
export type Special = (scene: Scene, args: Case['call']['args']) => Promise<Made>;

/** Arguments of a special tool in a wrong form. The case fails. */
export class SpecialError extends Error {
  override readonly name = 'SpecialError';
}

/** Makes calls of tools in a single turn. */
export const makeCalls = (
  { run, decider }: Scene,
  calls: readonly { tool: string; args: Json }[],
  options: { concurrent?: boolean } = {},
): Promise<StepDetail[]> => run.make(calls, { ...options, decide: decider.decide });
