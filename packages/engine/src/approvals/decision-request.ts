import type { CallerKind, DecisionKind, DecisionToConfirm, Json, PasskeyAssertion } from '@holdpoint/contract';
import type { Transition } from '../domain/index.ts';

export interface Remember {
  scope: 'run' | 'policy';
  /** @default 30 days; at most a year */
  expires_s?: number | undefined;
  /** Must be set for a call with effects outside the workspace. */
  external?: boolean | undefined;
}

export interface DecisionRequest {
  decision: DecisionKind;
  action_digest: string;
  /** With `edit`: the arguments of a call, or `{resolutions: […]}` of a publish. */
  args?: Record<string, Json> | undefined;
  /**
   * With `edit`: invalid new arguments settle the call with their error. @default invalid arguments are refused, and the approval stays
   * open
   */
  settlesInvalid?: boolean | undefined;
  message?: string | undefined;
  /** With `approve` and `reject`: the same call is decided in the same way from now on. */
  remember?: Remember | undefined;
  /** Digest of the full content, when the approval shows only a beginning. */
  content_digest?: string | undefined;
  by: string;
  /** @default person */
  kind?: CallerKind;
  /** Gives the proof of a passkey for exactly this decision. Called once all else is checked, and again after a contended append. */
  confirm?: Confirm | undefined;
}

/** @throws EngineError `passkey_refused` */
export type Confirm = (decision: DecisionToConfirm) => Promise<PasskeyAssertion>;

/** A transition, or nothing to do because the caller has voted before. */
export type Checked = Transition | 'already voted';
