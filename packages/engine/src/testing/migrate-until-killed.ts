import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import pino from 'pino';

// Runs the migrations and dies before its n-th write to Redis or to a file: ADDRESS DATA_DIR N
const [address = '', dataDir = '', n] = process.argv.slice(2);
let left = Number(n);
const dieIfDue = (): void => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
};

const isWrite = (sent: unknown): boolean =>
  /\r\n(mset|msetnx|set|hset|hdel|del|unlink|zadd|zrem|sadd|srem|eval|evalsha|incr)\r\n/i.test(String(sent));
const write = Socket.prototype.write;
Socket.prototype.write = function (this: Socket, ...sent: Parameters<typeof write>) {
  if (isWrite(sent[0])) dieIfDue();
  return write.apply(this, sent);
} as typeof write;
for (const name of ['writeFile', 'rename', 'link', 'rm'] as const) {
  const original: (...input: never[]) => unknown = files[name];
  Reflect.set(files, name, (...input: never[]) => {
    dieIfDue();
    return original(...input);
  });
}
syncBuiltinESMExports();

const { migrate } = await import('../installation/migrations/migrate.ts');
const { connect } = await import('../redis/connect.ts');
const connections = connect(address, pino({ level: 'silent' }));
await migrate({ connections, dataDir });
await connections.close();
