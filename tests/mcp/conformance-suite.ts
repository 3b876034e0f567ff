import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request as requestTo } from 'node:http';
import { join } from 'node:path';
import { projectDir } from '../harness/index.ts';

/** The conformance suite of the protocol's own project. It brings a hundred packages, so it is fetched and no dependency. */
const packageName = '@modelcontextprotocol/conformance';
const version = '0.2.0-alpha.12';
const place = join(projectDir, '.cache/mcp-conformance', version);

/** @returns the reason of a missing suite; undefined with the suite */
export function bringSuite(): string | undefined {
  if (existsSync(join(place, 'ready'))) return undefined;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"private": true}');
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${packageName}@${version}`];
  try {
    execFileSync('npm', install, { cwd: place, stdio: 'pipe', timeout: 240_000 });
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? error).split('\n');
    return `${packageName}@${version} cannot be installed: ${said.find((line) => line.startsWith('npm error')) ?? said[0]}`;
  }
  writeFileSync(join(place, 'ready'), '');
  return undefined;
}

export interface Verdict {
  passed: number;
  failed: number;
  warnings: number;
  /** Ids and messages of the failed checks. */
  output: string;
}

/** Runs a scenario of the suite against a server. */
export async function runScenario(name: string, url: string): Promise<Verdict> {
  return runSuite(['server', '--url', url, '--scenario', name]);
}

/** Runs a scenario of the suite against a client. The suite starts the command with the address of its server. */
export async function runClientScenario(
  name: string,
  command: string,
  environment: Record<string, string>,
): Promise<Verdict> {
  return runSuite(['client', '--command', command, '--scenario', name, '--timeout', '50000'], environment);
}

async function runSuite(args: readonly string[], environment: Record<string, string> = {}): Promise<Verdict> {
  const program = join(place, 'node_modules', packageName, 'dist/index.js');
  const output = await new Promise<string>((resolve) => {
    // The suite leaves results in its working directory.
    const options = {
      timeout: 60_000,
      maxBuffer: 16 * 1024 * 1024,
      cwd: place,
      env: { ...process.env, ...environment },
    };
    execFile(process.execPath, [program, ...args], options, (_error, out, errors) => resolve(out + errors));
  });
  const [, passed, failed, warnings] = /Passed: (\d+)\/\d+, (\d+) failed, (\d+) warnings/.exec(output) ?? [];
  const counted = { failed: Number(failed ?? Number.NaN), warnings: Number(warnings ?? 0) };
  return { passed: Number(passed ?? 0), ...counted, output };
}

/** The suite sends no key: this adds one, and changes nothing else but the names of its own address. */
export async function withKey(target: string, key: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, host } = new URL(target);
  let own = '';
  const forwarded = (headers: IncomingHttpHeaders): IncomingHttpHeaders => ({
    ...headers,
    authorization: `Bearer ${key}`,
    ...(headers.host?.endsWith(own) && { host }),
    ...(headers.origin?.endsWith(own) && { origin: `http://${host}` }),
  });
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const up = requestTo({ hostname, port, method, path, headers: forwarded(headers), setHost: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    up.on('error', () => outgoing.destroy());
    outgoing.on('close', () => up.destroy());
    incoming.pipe(up);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  own = `:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url: `http://127.0.0.1${own}/mcp`,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
