import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * An agent by the Agent Client Protocol. Its prompt has a list of actions in JSON. Its session has the number of the next action, so a resumed agent continues
 * there. Only an action asks a model.
 */
const folder = `${process.env.HOME}/.acp`;
const sessionFile = `${folder}/session.json`;
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let session;
let tools;

createInterface({ input: process.stdin }).on('line', (line) => void onMessage(JSON.parse(line)));

async function onMessage({ id, method, params }) {
  if (method === 'initialize') {
    const loadSession = !process.argv.includes('--no-load');
    say({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession }, authMethods: [] } });
  }
  if (method === 'session/new' || method === 'session/load') {
    session = method === 'session/load' ? JSON.parse(readFileSync(sessionFile, 'utf8')) : { at: 0, actions: [] };
    tools = await openTools(params.mcpServers[0]);
    say({ id, result: method === 'session/load' ? {} : { sessionId: 'the-session' } });
  }
  if (method === 'session/prompt') {
    const text = params.prompt.map((part) => part.text).join('\n');
    const given = /ACTIONS (\[.*\])/.exec(text)?.[1];
    if (session.actions.length === 0 && given) session.actions = JSON.parse(given);
    // The story of the run: as many actions with a call are done.
    for (let done = [...text.matchAll(/^You called /gm)].length; done > 0; session.at += 1)
      if (session.actions[session.at].call) done -= 1;
    if (session.at > 0)
      chunk(`[resumed at ${session.at} with: ${`${text.slice(0, 200)} … ${text.slice(-600)}`.replaceAll('\n', ' ')}]`);
    await work();
    say({ id, result: { stopReason: 'end_turn' } });
  }
}

async function work() {
  while (session.at < session.actions.length) {
    const action = session.actions[session.at];
    session.at += 1;
    mkdirSync(folder, { recursive: true });
    writeFileSync(sessionFile, JSON.stringify(session));
    await act(action);
  }
}

function chunk(text) {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  say({ method: 'session/update', params: { sessionId: 'the-session', update } });
}

async function act({
  say: words,
  call,
  args,
  parts,
  also,
  flood,
  shell,
  model,
  raw,
  fill,
  hang,
  exit,
  line,
  wait,
  needs,
}) {
  if (words) chunk(words);
  if (call === 'bash' && parts) args = { command: parts.join('') };
  if (also) setTimeout(async () => chunk(`[model: ${await ask(also)}]`), 300);
  if (call) chunk(`[${call}: ${await tools.call(call, args ?? {})}]`);
  if (shell) chunk(`[shell: ${await run(shell)}]`);
  if (model) chunk(`[model: ${await ask(model)}]`);
  // As real agents do: a refused model ends the turn.
  if (needs && !(await ask(needs)).startsWith('200')) process.exit(1);
  if (raw) tools.write(raw);
  for (let number = 1000; number < 1000 + (flood ?? 0); number += 1)
    tools.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: number,
        method: 'tools/call',
        params: { name: 'bash', arguments: { command: 'true' } },
      }),
    );
  if (flood) await new Promise(() => {});
  if (line) process.stdout.write(`${'x'.repeat(line)}\n`);
  if (fill) writeFileSync(`${folder}/large`, Buffer.alloc(fill, 'a'));
  if (wait) await new Promise((resolve) => setTimeout(resolve, wait));
  if (hang) await new Promise(() => {});
  if (exit) {
    process.stderr.write('the last words of the agent');
    process.exit(exit);
  }
}

const run = (command) =>
  new Promise((resolve) => {
    execFile('/bin/bash', ['-c', command], { timeout: 20_000 }, (error, stdout, stderr) =>
      resolve(`${error?.code ?? 0} ${stdout}${stderr}`.trim()),
    );
  });

async function ask({ path, name, key }) {
  const base = process.env.ANTHROPIC_BASE_URL;
  try {
    const answer = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key ?? process.env.ANTHROPIC_API_KEY },
      body: JSON.stringify({ model: name ?? process.env.ANTHROPIC_MODEL, messages: [], max_tokens: 10 }),
    });
    return `${answer.status} ${(await answer.text()).slice(0, 200)}`;
  } catch (error) {
    return `failed ${error.cause?.code ?? error.message}`;
  }
}

async function openTools({ command, args }) {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  let number = 0;
  createInterface({ input: server.stdout }).on('line', (text) => {
    const { id, result, error } = JSON.parse(text);
    waiting.get(id)?.(result ?? { content: [{ text: error?.message }] });
  });
  const write = (text) => server.stdin.write(`${text}\n`);
  const request = (method, params) => {
    number += 1;
    write(JSON.stringify({ jsonrpc: '2.0', id: number, method, params }));
    return new Promise((resolve) => waiting.set(number, resolve));
  };
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  return {
    write,
    async call(name, given) {
      const { content } = await request('tools/call', { name, arguments: given });
      return content.map(({ text }) => text).join('');
    },
  };
}
