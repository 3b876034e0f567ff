import type { Problem } from '@holdpoint/contract';
import type { RuleState } from './model.ts';

/** The error of a call that a remembered rule rejects: who decided, when, and that a further try is in vain. */
export function remembersRejection({ id, made }: RuleState): Problem {
  const { by, made_at, expires_at, message } = made;
  const says = message === undefined ? '' : ` They say: ${message}`;
  return {
    code: 'EREJECTED',
    message: `Not run: ${by} rejected this very call at ${made_at}, and that is remembered until ${expires_at} (${id}).${says}`,
    next: `Do not try this call again, nor with another description: ${doNext}`,
  };
}

const doNext = 'it is rejected each time without a question. Follow the message of the person, or find another way.';

/** What the planner reads after the rejection that makes a rule. */
export const nextAfterRemembered = `Do not try this call again: ${doNext}`;
