import { newErrors } from '../extract/extractor.ts';
import { type Extractor, openExtractor } from '../extract/open-extractor.ts';
import { languageOf } from '../grammars/grammar-of.ts';
import type { CheckReply, ParseReply, ParseRequest } from './protocol.ts';

/** Reads a line of JSON and the announced number of bytes, and answers with a line, until stdin ends. */
const limits = { timeoutMs: 5000, maxFacts: 20_000 };

let extractor: Extractor | undefined;

async function parse({ name }: ParseRequest, bytes: Buffer): Promise<ParseReply> {
  const language = languageOf(name, bytes.subarray(0, 256));
  if (language === undefined) return { unparsed: 'unknown_language' };
  extractor ??= await openExtractor();
  const found = await extractor.extract({ path: name, language, bytes }, limits);
  return 'unparsed' in found ? { language, unparsed: found.unparsed } : { language, facts: found };
}

async function check({ name }: ParseRequest, before: Buffer, after: Buffer): Promise<CheckReply> {
  const language = languageOf(name, after.subarray(0, 256));
  if (language === undefined) return { unparsed: 'unknown_language' };
  extractor ??= await openExtractor();
  const now = await extractor.errors({ path: name, language, bytes: after }, limits);
  if ('unparsed' in now) return now;
  if (now.errors.length === 0) return { errors: [] };
  const then = await extractor.errors({ path: name, language, bytes: before }, limits);
  return 'unparsed' in then ? then : { errors: newErrors(now.errors, then.errors) };
}

async function answer(asked: ParseRequest, bytes: Buffer): Promise<void> {
  const { before } = asked;
  const reply =
    before === undefined
      ? await parse(asked, bytes)
      : await check(asked, bytes.subarray(0, before), bytes.subarray(before));
  // The worker starts another program after a broken parser.
  const isLast = extractor?.isBroken === true;
  await new Promise<void>((written) => process.stdout.write(`${JSON.stringify(reply)}\n`, () => written()));
  if (isLast) process.exit(0);
}

let queue: Promise<void> = Promise.resolve();
let received = Buffer.alloc(0);
let parts: Buffer[] = [];
let request: ParseRequest | undefined;

process.stdin.on('data', (chunk: Buffer) => {
  parts.push(chunk);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (request !== undefined && length < request.bytes) return;
  received = Buffer.concat(parts);
  while (received.length > 0) {
    const end = request === undefined ? received.indexOf(10) : request.bytes;
    if (end === -1 || end > received.length) break;
    if (request === undefined) {
      request = JSON.parse(received.toString('utf8', 0, end)) as ParseRequest;
      received = received.subarray(end + 1);
      if (request.bytes > 0) continue;
    }
    const [asked, bytes] = [request, received.subarray(0, request.bytes)];
    received = received.subarray(request.bytes);
    request = undefined;
    queue = queue.then(() => answer(asked, bytes));
  }
  parts = [received];
});
process.stdin.on('end', () => void queue.then(() => process.exit(0)));
