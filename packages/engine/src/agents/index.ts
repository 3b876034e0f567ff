export { notifyParent, reportToAll, reportToParent } from './report-agent.ts';
export { failPaused, reportEnd } from './report-end.ts';
export { agentRefused, agentsUsedUp, limitReachedAbove, reserveAgent, roomForCalls } from './tree-limits.ts';
