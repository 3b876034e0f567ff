import type { Json } from '@holdpoint/contract';
import type { StepDetail } from '@holdpoint/contract/wire';
import type { Case } from '../case.ts';
import type { Decider } from '../decider.ts';
import type { Found } from '../match.ts';
import type { OpenRun } from '../open-run.ts';
import type { Bench } from '../system.ts';
import type { Adapter } from '../toolsets/adapter.ts';

/** What a call of a case can use. */
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
  /** The steps that it became; none where it is no call of a tool. */
  steps: readonly StepDetail[];
}

/** A call whose name begins with `$`: it asks for more than one tool. */
export type Special = (scene: Scene, args: Case['call']['args']) => Promise<Made>;

/** What a special tool is given is not in its form. The case fails. */
export class SpecialError extends Error {
  override readonly name = 'SpecialError';
}

/** Makes calls of tools, one turn. */
export const makeCalls = (
  { run, decider }: Scene,
  calls: readonly { tool: string; args: Json }[],
  options: { concurrent?: boolean } = {},
): Promise<StepDetail[]> => run.make(calls, { ...options, decide: decider.decide });
