import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir, until } from '../harness/index.ts';
import { freePort } from './free-port.ts';

/**
 * The trace store of Genkit keeps OTLP data in files, and has a reading API. The store is not a dependency: the suite fetches the package.
 */
const packageName = '@genkit-ai/telemetry-server';
const version = '1.43.0';
const place = join(projectDir, '.cache/trace-store', version);

/** @returns the reason of a missing store; undefined with a store */
export function bringTraceStore(): string | undefined {
  if (existsSync(join(place, 'ready'))) return undefined;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"private": true}');
  try {
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${packageName}@${version}`], {
      ...{ cwd: place, stdio: 'pipe', timeout: 240_000 },
    });
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? error).split('\n');
    return `${packageName}@${version} cannot be installed: ${said.find((line) => line.startsWith('npm error')) ?? said[0]}`;
  }
  writeFileSync(join(place, 'ready'), '');
  return undefined;
}

const program = `
const { startTelemetryServer, LocalFileTraceStore, LocalFileLogStore } = require('${packageName}');
const [port, directory] = process.argv.slice(1);
const at = { storeRoot: directory, indexRoot: directory };
startTelemetryServer({
  host: '127.0.0.1', port: Number(port), traceStore: new LocalFileTraceStore(at), logStore: new LocalFileLogStore(at),
});`;

interface StoredSpan {
  spanId: string;
  parentSpanId?: string;
  displayName: string;
  startTime: number;
  endTime: number;
}

interface TraceStore {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. The store takes JSON alone. */
  endpoint: string;
  /** The stored spans of a trace. */
  spansOf(traceId: string): Promise<StoredSpan[]>;
  stop(): Promise<void>;
}

/** Starts the store on files in `directory`. */
export async function startTraceStore(directory: string): Promise<TraceStore> {
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const child = spawn(process.execPath, ['-e', program, String(port), directory], {
    cwd: place,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(join(directory, 'trace-store.log'));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const gone = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await until('the trace store is ready', async () => {
    if (child.exitCode !== null) throw new Error(`the trace store ended; see ${directory}/trace-store.log`);
    return fetch(`${url}/api/__health`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    endpoint: `${url}/api/otlp`,
    async spansOf(traceId) {
      const answer = await fetch(`${url}/api/traces/${traceId}`);
      const text = await answer.text();
      return text === '' ? [] : Object.values((JSON.parse(text) as { spans: Record<string, StoredSpan> }).spans);
    },
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
