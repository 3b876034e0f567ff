import type { CallerKind, DecisionKind, Json } from '@holdpoint/contract';
import type { Transition } from '../domain/index.ts';
import type { Remember } from './remember-rule.ts';

export interface DecisionRequest {
  decision: DecisionKind;
  action_digest: string;
  /** With `edit`: the arguments of a call, or `{resolutions: […]}` of a publish. */
  args?: Record<string, Json> | undefined;
  /** With `edit`: the call settles with what is wrong with its new arguments. @default they are refused, and the approval stays open */
  settlesInvalid?: boolean | undefined;
  message?: string | undefined;
  /** With `approve`: the same call needs no decision from now on. */
  remember?: Remember | undefined;
  /** Digest of the whole content, where the approval shows only its beginning. */
  content_digest?: string | undefined;
  by: string;
  /** @default person */
  kind?: CallerKind;
}

/** A transition, or nothing to do because the caller has voted before. */
export type Checked = Transition | 'already voted';
