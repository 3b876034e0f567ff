import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const file = new URL('../docker-compose.yml', import.meta.url);
const { services } = parse(readFileSync(file, 'utf8')) as { services: Record<string, Service> };

interface Service {
  ports?: string[];
  volumes?: string[];
  environment: Record<string, string>;
  command: string[];
}

test('Redis requires its password and is reachable only inside the composition', () => {
  expect(services.valkey?.ports).toBeUndefined();
  expect(services.valkey?.environment.REDISCLI_AUTH).toMatch(/^\$\{VALKEY_PASSWORD:\?/);
  expect(services.valkey?.command.join(' ')).toContain('\nrequirepass $$REDISCLI_AUTH\n');
  for (const name of ['api', 'worker']) {
    expect(services[name]?.environment.REDIS_URL).toMatch(/^redis:\/\/:\$\{VALKEY_PASSWORD:\?[^}]*\}@valkey:6379$/);
  }
});

test.each(Object.entries(services))('%s is published only on loopback', (_name, { ports = [] }) =>
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]),
);

test('every file that a service gets exists', () => {
  const mounts = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.filter((mount) => mount.startsWith('.')),
  );
  expect(mounts.length).toBeGreaterThan(0);
  expect(mounts.filter((mount) => !existsSync(new URL(mount.split(':')[0] ?? '', file)))).toEqual([]);
});
