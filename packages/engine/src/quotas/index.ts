export { chargeRun, quotaUsedUp } from './charge.ts';
export { personNamed, readQuotas, readUse, writeQuotas } from './quotas.ts';
export { quotaError, reserveRun } from './reserve.ts';
