import type { Problem, StepStatus } from '@holdpoint/contract';

/** The head of a failed call. */
export function errorLine(status: StepStatus, error: Problem | undefined): string {
  if (error === undefined) return `error: the call is ${status.replace('_', ' ')}`;
  const { code, message, next } = error;
  const said = next === undefined || /[.!?:…]\s*$/.test(message) ? message : `${message}.`;
  return [`error ${code}: ${said}`, next].filter(Boolean).join(' ');
}
