export { AgentProcess } from './agent-process.ts';
export type { AgentTurn, SavedSession } from './agent-turn.ts';
export type { EndedCall } from './asked-calls.ts';
export { AgentError, callHeading } from './drivers/driver.ts';
export type { RunInside } from './launcher.ts';
export type { CallAgain } from './native/hook-gate.ts';
export { resultsIn, type SessionChange, SessionError } from './session/session.ts';
export type { CallText, Performed } from './tools-server.ts';
