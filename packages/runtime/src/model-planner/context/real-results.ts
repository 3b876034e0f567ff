import type { PastTurn } from '@holdpoint/engine/worker';
import type { ModelMessage } from '@holdpoint/models';
import { freshCap } from '../conversation.ts';
import type { Budget } from './budget.ts';
import type { BuiltRequest } from './build-request.ts';

interface Summarising {
  request: Pick<BuiltRequest, 'through' | 'scale'>;
  turns: readonly PastTurn[];
  budget: Pick<Budget, 'request'>;
}

/** Most bytes of each result. The first is what a turn's request has, so its beginning is in the provider's cache. */
const caps = [freshCap, 48 * 1024, 16 * 1024, 4096, 800];
/** The question and its answer need place, and the estimate may be wrong. */
const fullest = 0.85;
/** More requests that are refused for their length cost more than a shorter one loses. */
const mostTried = 2;

/**
 * The conversation through these turns, with as much of each result as fits; and with less, should the provider refuse it. Results that
 * were cut in requests for turns are whole again: the log has them.
 */
export function conversationsFor({ request, turns, budget }: Summarising): ModelMessage[][] {
  const fitting = caps
    .map((cap) => request.through(turns, cap))
    .filter(({ tokens }) => tokens * request.scale <= budget.request * fullest);
  const different = fitting.filter(({ tokens }, at) => tokens !== fitting[at - 1]?.tokens);
  return different.slice(0, mostTried).map(({ messages }) => messages);
}
