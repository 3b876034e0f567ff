import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { projectDir, until } from '../harness/index.ts';
import { freePort } from './free-port.ts';
import { programOf } from './prometheus.ts';
import { rulesFile } from './read-rules.ts';

interface Sample {
  metric: Record<string, string>;
  value: number;
}

interface Exemplar {
  labels: Record<string, string>;
}

export interface Prometheus {
  /** The present samples of a query. @throws with Prometheus's words for an invalid query */
  query(promql: string): Promise<Sample[]>;
  exemplars(promql: string): Promise<Exemplar[]>;
  /** Why each target cannot be scraped; empty: all can. */
  scrapeErrors(): Promise<string[]>;
  /** Resolves when each target was scraped once more. */
  scraped(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  directory: string;
  /** `HOST:PORT` of each process. */
  api: string;
  workers: string[];
  key: string;
}

const interval = '2s';

/** Debian's Prometheus with the configuration of infra/, whose targets are on this machine. */
export async function startPrometheus({ directory, api, workers, key }: Options): Promise<Prometheus> {
  mkdirSync(directory, { recursive: true });
  const [keyFile, configFile] = [join(directory, 'key'), join(directory, 'prometheus.yaml')];
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(configFile, configOf({ api, workers, keyFile }));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    programOf('prometheus'),
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  child.stderr.pipe(createWriteStream(join(directory, 'prometheus.log')));
  const gone = once(child, 'exit');

  const ask = async <Data>(path: string, parameters: Record<string, string> = {}): Promise<Data> => {
    const answer = await fetch(`http://${address}/api/v1/${path}`, {
      method: Object.keys(parameters).length > 0 ? 'POST' : 'GET',
      ...(Object.keys(parameters).length > 0 && { body: new URLSearchParams(parameters) }),
    });
    const { data, error } = (await answer.json()) as { data: Data; error?: string };
    if (error !== undefined) throw new Error(error);
    return data;
  };
  await until('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(join(directory, 'prometheus.log'), 'utf8'));
    return fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const targets = async () => {
    type Target = { scrapeUrl: string; lastError: string; lastScrape: string };
    return (await ask<{ activeTargets: Target[] }>('targets')).activeTargets;
  };
  return {
    async query(promql) {
      const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>('query', {
        query: promql,
      });
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    async exemplars(promql) {
      const now = Date.now() / 1000;
      const found = await ask<{ exemplars: Exemplar[] }[]>('query_exemplars', {
        ...{ query: promql, start: String(now - 3600), end: String(now + 60) },
      });
      return found.flatMap(({ exemplars }) => exemplars);
    },
    async scrapeErrors() {
      return (await targets())
        .filter(({ lastError }) => lastError !== '')
        .map((one) => `${one.scrapeUrl}: ${one.lastError}`);
    },
    async scraped() {
      const from = Date.now();
      await until('every target is scraped', async () =>
        (await targets()).every(({ lastScrape }) => Date.parse(lastScrape) > from),
      );
    },
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

interface Config {
  global: Record<string, string>;
  rule_files: string[];
  scrape_configs: Record<string, unknown>[];
}

function configOf({ api, workers, keyFile }: { api: string; workers: string[]; keyFile: string }): string {
  const config = parse(readFileSync(join(projectDir, 'infra/prometheus/prometheus.yaml'), 'utf8')) as Config;
  const [forApi, forWorkers] = config.scrape_configs;
  return stringify({
    ...config,
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: [rulesFile],
    scrape_configs: [
      { ...forApi, authorization: { credentials_file: keyFile }, static_configs: [{ targets: [api] }] },
      { job_name: forWorkers?.job_name, static_configs: [{ targets: workers }] },
    ],
  });
}
