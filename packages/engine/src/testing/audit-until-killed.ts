import pino from 'pino';
import { startAudit } from '../audit/audit-writer.ts';
import { connect } from '../redis/connect.ts';

// Is a worker that seals, until it is killed: ADDRESS DATA_DIR
const [address = '', dataDir = ''] = process.argv.slice(2);
const logger = pino({ level: 'silent' });
const connections = connect(address, logger);
const { state: redis, subscriber } = connections;
const audit = startAudit({ redis, subscriber, dataDir, logger, now: Date.now, everyMs: 20 });
process.on('SIGTERM', () => {
  audit
    .stop()
    .then(() => connections.close())
    .then(() => process.disconnect?.());
});
process.send?.('started');
