import { driverOf } from '../drivers/drivers.ts';
import { foldSession, type SessionChange } from './session.ts';

/**
 * The calls whose results a session has, by the agent's ids and by the ids in its prompts. Agents write their session late: it may lack results that
 * the log has. Undefined for an agent whose files are not read, and for files that cannot be read.
 */
export function resultsIn(agent: string, changes: readonly SessionChange[]): ReadonlySet<string> | undefined {
  try {
    return driverOf(agent).resultsIn?.(foldSession(changes));
  } catch {
    return undefined;
  }
}
