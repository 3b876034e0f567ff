export { AgentProcess, type AgentTurn, type SavedSession } from './agent-process.ts';
export { AgentError } from './drivers/driver.ts';
export type { RunInside } from './launcher.ts';
export type { CallAgain } from './native/hook-gate.ts';
export { type SessionChange, SessionError } from './session/session.ts';
export type { CallText, Performed } from './tools-server.ts';
