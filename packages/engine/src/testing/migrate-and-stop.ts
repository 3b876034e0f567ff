import pino from 'pino';
import { migrate } from '../installation/migrations/migrate.ts';
import { connect } from '../redis/connect.ts';
import { upperCase } from './upper-case-migration.ts';

// Runs the test migration and stands still after its n-th change of Redis, until it is killed: ADDRESS DATA_DIR N
const [address = '', dataDir = '', n] = process.argv.slice(2);
const connections = connect(address, pino({ level: 'silent' }));
let changes = 0;
const counted = new Proxy(connections.state, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name);
    if (typeof value !== 'function') return value;
    return async (...args: unknown[]) => {
      const result = await Reflect.apply(value, target, args);
      if (!['mset', 'set', 'incr'].includes(String(name)) || ++changes < Number(n)) return result;
      process.send?.('stopped');
      return new Promise(() => undefined);
    };
  },
});
await migrate({ connections: { ...connections, state: counted }, dataDir }, [upperCase]);
await connections.close();
process.disconnect?.();
