export { checkHealth } from './check-health.ts';
export { endChildren, endProcess } from './end-process.ts';
export { openHere } from './open-here.ts';
export { openStopped } from './open-stopped.ts';
export { identify, isAlive, type ProcessIdentity } from './process-identity.ts';
export { quiet } from './quiet.ts';
export { drainMarginMs, type RunningSystem, startSystem } from './start-system.ts';
export { claim, readSystemRecord, release, type SystemRecord, updateSystemRecord } from './system-record.ts';
