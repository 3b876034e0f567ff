import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const { services } = parse(readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8'));

test('Redis requires its password and is reachable only inside the composition', () => {
  expect(services.valkey.ports).toBeUndefined();
  expect(services.valkey.environment.REDISCLI_AUTH).toMatch(/^\$\{VALKEY_PASSWORD:\?/);
  expect(services.valkey.command.join(' ')).toContain('\nrequirepass $$REDISCLI_AUTH\n');
  for (const name of ['api', 'worker']) {
    expect(services[name].environment.REDIS_URL).toMatch(/^redis:\/\/:\$\{VALKEY_PASSWORD:\?[^}]*\}@valkey:6379$/);
  }
});

test('the API is published only on loopback', () => expect(services.api.ports).toEqual(['127.0.0.1:4747:4747']));
