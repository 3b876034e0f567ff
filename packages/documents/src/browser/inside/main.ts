import { createInterface } from 'node:readline';
import type { ShotReply, ShotRequest } from '../protocol.ts';
import { openBrowser } from './browser.ts';
import { ShotError } from './error.ts';
import { startServer } from './server.ts';
import { takeShot } from './take-shot.ts';

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await answer(JSON.parse(line) as ShotRequest);
  await new Promise<void>((written) => process.stdout.write(`${JSON.stringify(reply)}\n`, () => written()));
}

async function answer(request: ShotRequest): Promise<ShotReply> {
  await using server = startServer(request);
  try {
    await server.listens;
    await using browser = await openBrowser(request.browser);
    return await takeShot(browser, request);
  } catch (error) {
    const { problem, message } =
      error instanceof ShotError ? error : { problem: 'page' as const, message: String(error).slice(0, 500) };
    const output = server.output();
    return { problem, message, ...(output !== '' && { output }) };
  }
}
