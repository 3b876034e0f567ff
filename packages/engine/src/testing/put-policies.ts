import { policySchema } from '@holdpoint/contract';
import { pino } from 'pino';
import { putPolicy } from '../policies/put-policy.ts';
import { connect } from '../redis/connect.ts';

/** A process that puts documents under one name, and prints each version that was acknowledged. Arguments: socket, name, its own word, how many. */
const [address = '', name = '', word = '', count = '0'] = process.argv.slice(2);
const connections = connect(address, pino({ level: 'silent' }));
for (let index = 0; index < Number(count); index++) {
  // Large enough that a write in parts would show.
  const rules = Array.from({ length: 200 }, (_, at) => ({
    match: { labels: { put: `${word}-${index}-${at}` } },
    action: 'hold',
  }));
  const document = policySchema.parse({ rules });
  const put = { tenant: 'default', name, document, by: word };
  const { policy } = await putPolicy({ redis: connections.state, now: Date.now }, put);
  process.stdout.write(`${policy.version} ${policy.digest}\n`);
}
await connections.close();
