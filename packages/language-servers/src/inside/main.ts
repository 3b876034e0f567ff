import { createInterface } from 'node:readline';
import type { ServerReply, ServerRequest } from '../protocol.ts';
import { LanguageServer, NoAnswer } from './language-server.ts';
import { findPlaces, renameSymbol } from './names.ts';
import { newProblems } from './problems.ts';

/** Reads a request from each line, and answers with a line, in order, until stdin ends or the server does. */
let server: LanguageServer | undefined;

async function answer(request: ServerRequest): Promise<ServerReply> {
  if (request.ask === 'start') {
    server = await LanguageServer.start(request.server, request.wait_ms);
    return { started: true };
  }
  if (server === undefined) throw new NoAnswer('ESERVER', 'No server was started.');
  server.setDeadline(request.wait_ms);
  await server.catchUp();
  switch (request.ask) {
    case 'diagnostics':
      return { problems: await newProblems(server, request.files) };
    case 'definition':
    case 'references':
      return findPlaces(server, request);
    case 'rename':
      return { files: await renameSymbol(server, request) };
    default:
      return request satisfies never;
  }
}

const problemOf = (error: unknown): ServerReply => ({
  problem:
    error instanceof NoAnswer
      ? { code: error.code, message: error.message }
      : { code: 'ESERVER', message: String(error instanceof Error ? error.message : error).slice(0, 2000) },
});

for await (const line of createInterface({ input: process.stdin })) {
  const { bytes: _, ...request } = JSON.parse(line) as ServerRequest & { bytes: number };
  const reply = await answer(request as ServerRequest).catch(problemOf);
  await new Promise<void>((written) => process.stdout.write(`${JSON.stringify(reply)}\n`, () => written()));
  // The worker starts another program for the next question.
  if (server?.hasEnded === true) break;
}
process.exit(0);
