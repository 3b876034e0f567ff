export { failPaused } from './fail-paused.ts';
export { notifyParent } from './notify-parent.ts';
export { reportToAll, reportToParent } from './report-agent.ts';
export { reportEnd } from './report-end.ts';
export { reserveAgent } from './reserve-agent.ts';
export { agentRefused, agentsUsedUp, limitReachedAbove, roomForCalls } from './tree-limits.ts';
