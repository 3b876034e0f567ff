import pino from 'pino';
import { openAuditWriter } from '../audit/audit-writer.ts';
import { connect } from '../redis/connect.ts';

// Seals run by run and stands still before or after its n-th script, until it is killed: ADDRESS DATA_DIR N before|after
const [address = '', dataDir = '', n, when] = process.argv.slice(2);
const logger = pino({ level: 'silent' });
const connections = connect(address, logger);
let scripts = 0;

const redis = new Proxy(connections.state, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name);
    if (typeof value !== 'function') return value;
    if (name !== 'eval') return value.bind(target);
    return async (...args: unknown[]) => {
      scripts += 1;
      const isLast = scripts === Number(n);
      const result = isLast && when === 'before' ? undefined : await Reflect.apply(value, target, args);
      if (!isLast) return result;
      process.send?.('stopped');
      return new Promise(() => undefined);
    };
  },
});
const deps = { redis, dataDir, logger, now: Date.now, redact: (text: string) => text, segmentBytes: 9000 };
const writer = await openAuditWriter(deps);
for await (const runId of writer.unsealed('all')) await writer.seal([runId], new AbortController().signal);
await connections.close();
process.disconnect?.();
