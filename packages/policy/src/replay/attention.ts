import type { PolicyAction } from '@holdpoint/contract';
import type { RecordedCall } from './recorded-call.ts';

/**
 * A person's need to look at a call with a changed verdict, the highest first: calls now allowed, ordered by their past: denied, refused,
 * not decided, approved; then calls now held; then calls now denied.
 */
export function attention(call: Pick<RecordedCall, 'action' | 'decision'>, now: PolicyAction): number {
  const kinds: Record<PolicyAction, number> = { allow: 20, hold: 10, deny: 0 };
  return kinds[now] + concern(call);
}

function concern({ action, decision }: Pick<RecordedCall, 'action' | 'decision'>): number {
  if (action === 'deny') return 3;
  if (isRefused({ decision })) return 2;
  return decision === undefined || decision.kind === 'expired' ? 1 : 0;
}

/** A person refused the call in its original form. An edit replaces the original form. */
export const isRefused = ({ decision }: Pick<RecordedCall, 'decision'>): boolean =>
  decision !== undefined && ['reject', 'respond', 'edit'].includes(decision.kind);
