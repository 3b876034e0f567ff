import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';

/**
 * Runs inside the sandbox, as `node --eval`, with Node's own modules alone. Starts the agent, relays the agent's lines and connections to our
 * tools, and reads the files of the agent's session. The worker trusts the launcher no more than the agent.
 */
const [home = ''] = process.argv.slice(1);
const blockBytes = 4096;
const mostBytes = 48 * 1024 * 1024;
const mostFiles = 4000;
const mostLine = 1024 * 1024;

type Order =
  | {
      order: 'start';
      argv: string[];
      cwd: string;
      env: Record<string, string>;
      files: Record<string, string>;
      kept: string[];
    }
  | { order: 'input'; line: string }
  | { order: 'end_input' }
  | { order: 'tools'; connection: number; line: string }
  | { order: 'hook'; id: number; body: string }
  | { order: 'save'; id: number };

/** The port of our tools on the loopback of the sandbox, which has no unix sockets. */
const toolsPort = 3129;

/** The port of the hooks of an agent that keeps its own tools. Only this sandbox reaches its loopback. */
const hooksPort = 3130;
const mostHook = 2 * 1024 * 1024;

/** A program that joins the agent's standard input and output to our tools. */
const bridge = `import { connect } from 'node:net';
const socket = connect(${toolsPort}, '127.0.0.1');
process.stdin.pipe(socket).pipe(process.stdout);
socket.on('error', () => process.exit(1));
socket.on('close', () => process.exit(0));
`;

const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const connections = new Map<number, Socket>();
const hooks = new Map<number, ServerResponse>();
const known = new Map<string, Buffer>();
let kept: string[] = [];
const early: ((stdin: ChildProcessWithoutNullStreams['stdin']) => void)[] = [];
let agent: ChildProcessWithoutNullStreams | undefined;

createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line) as Order))
  .on('close', () => process.exit(0));

function obey(order: Order): void {
  if (order.order === 'start') start(order);
  else if (order.order === 'input') toAgent((stdin) => stdin.write(`${order.line}\n`));
  else if (order.order === 'end_input') toAgent((stdin) => stdin.end());
  else if (order.order === 'tools') connections.get(order.connection)?.write(`${order.line}\n`);
  else if (order.order === 'hook') answerHook(order);
  else say({ said: 'saved', id: order.id, ...changes() });
}

/** Input before the start of the agent waits. */
function toAgent(act: (stdin: ChildProcessWithoutNullStreams['stdin']) => void): void {
  if (agent === undefined) early.push(act);
  else act(agent.stdin);
}

function start({ argv, cwd, env, files, kept: roots }: Extract<Order, { order: 'start' }>): void {
  kept = roots;
  for (const [path, base64] of Object.entries(files)) {
    const content = Buffer.from(base64, 'base64');
    write(join(home, path), content);
    if (isKept(path)) known.set(path, content);
  }
  write(join(home, 'bridge.mjs'), Buffer.from(bridge));
  // Agents refuse a folder of settings that others may read.
  chmodSync(home, 0o700);
  if (cwd !== '/workspace') mkdirSync(cwd, { recursive: true });
  serveTools(() => serveHooks(() => run(argv, cwd, env)));
}

function run(argv: readonly string[], cwd: string, env: Record<string, string>): void {
  const [program = '', ...args] = argv;
  agent = spawn(program, args, { env: { ...process.env, ...env, HOME: home }, cwd });
  let words = Buffer.alloc(0);
  agent.stdin.on('error', () => {});
  for (const act of early.splice(0)) act(agent.stdin);
  agent.stderr.on('data', (chunk: Buffer) => {
    words = Buffer.concat([words, chunk]).subarray(-4096);
  });
  createInterface({ input: agent.stdout }).on('line', (line) => {
    if (line.length <= mostLine) say({ said: 'output', line });
  });
  const ended = (code: number | null, why: string): void => say({ said: 'ended', code, why, words: words.toString() });
  agent.on('error', (error: NodeJS.ErrnoException) => ended(null, error.code ?? error.message));
  agent.on('close', (code, signal) => ended(code, signal ?? ''));
}

function write(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}

function serveTools(ready: () => void): void {
  let number = 0;
  createServer((socket) => {
    const connection = ++number;
    connections.set(connection, socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      connections.delete(connection);
      say({ said: 'tools_closed', connection });
    });
    createInterface({ input: socket }).on('line', (line) => say({ said: 'tools', connection, line }));
  }).listen(toolsPort, '127.0.0.1', ready);
}

function serveHooks(ready: () => void): void {
  let number = 0;
  createHttpServer(async (request, response) => {
    const id = ++number;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostBytes) return void response.destroy();
      chunks.push(chunk);
    }
    hooks.set(id, response);
    response.on('close', () => hooks.delete(id));
    say({ said: 'hook', id, body: bounded(Buffer.concat(chunks).toString()) });
  }).listen(hooksPort, '127.0.0.1', ready);
}

/** A report of a large file is cut: the snapshot has the file. A call that is too large is asked without its arguments, and refused. */
function bounded(body: string): string {
  if (body.length <= mostHook) return body;
  try {
    const { tool_response: _, tool_input: __, ...rest } = JSON.parse(body) as Record<string, unknown>;
    return JSON.stringify({ ...rest, too_large: true });
  } catch {
    return '';
  }
}

function answerHook({ id, body }: Extract<Order, { order: 'hook' }>): void {
  hooks.get(id)?.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

const isKept = (path: string): boolean => kept.some((root) => path === root || path.startsWith(`${root}/`));

/** The blocks of the session's files that changed since the last call. */
function changes(): { files: number; data: string } | { tooLarge: string } {
  const found = new Map<string, Buffer>();
  let bytes = 0;
  for (const root of kept) {
    for (const path of filesBelow(root)) {
      const content = readFileSync(join(home, path));
      bytes += content.length;
      if (bytes > mostBytes || found.size >= mostFiles) return { tooLarge: `${found.size} files, ${bytes} bytes` };
      found.set(path, content);
    }
  }
  const removed = [...known.keys()].filter((path) => !found.has(path));
  const changed = [...found].flatMap(([path, content]) => {
    const before = known.get(path);
    if (before?.equals(content)) return [];
    return [{ path, bytes: content.length, blocks: changedBlocks(before ?? Buffer.alloc(0), content) }];
  });
  known.clear();
  for (const [path, content] of found) known.set(path, content);
  return { files: found.size, data: gzipSync(JSON.stringify({ removed, changed })).toString('base64') };
}

/** Runs of changed blocks: the place of each in bytes, and its content. */
function changedBlocks(before: Buffer, after: Buffer): [number, string][] {
  const runs: [number, number][] = [];
  for (let from = 0; from < after.length; from += blockBytes) {
    const to = Math.min(from + blockBytes, after.length);
    if (after.subarray(from, to).equals(before.subarray(from, Math.min(to, before.length)))) continue;
    const last = runs.at(-1);
    if (last?.[1] === from) last[1] = to;
    else runs.push([from, to]);
  }
  return runs.map(([from, to]) => [from, after.subarray(from, to).toString('base64')]);
}

function filesBelow(path: string): string[] {
  let entries: import('node:fs').Dirent[];
  try {
    entries = readdirSync(join(home, path), { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [path];
    return [];
  }
  return entries.flatMap((entry) => {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(inside);
    return entry.isFile() ? [inside] : [];
  });
}
