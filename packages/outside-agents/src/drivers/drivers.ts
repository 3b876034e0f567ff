import { acpCommand, type OutsideAgentName, outsideAgentName } from '@holdpoint/contract';
import { acp, gemini, opencode } from './acp.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import type { AgentDriver } from './driver.ts';

const drivers: Record<OutsideAgentName, AgentDriver> = { 'claude-code': claudeCode, codex, gemini, opencode };

/** @param agent as the schema of the contract lets it through */
export function driverOf(agent: string): AgentDriver {
  const name = outsideAgentName(agent);
  if (name !== undefined) return drivers[name];
  return acp(acpCommand(agent) ?? '');
}
