import { stat, whereTo } from './entry.ts';
import { glob } from './glob.ts';
import { list } from './list.ts';
import { makeDirectory } from './make-directory.ts';
import { move } from './move.ts';
import { below } from './outputs.ts';
import { type Operations, type OutputStream, type Reply, type Request, refusalOf } from './protocol.ts';
import { read } from './read.ts';
import { remove } from './remove.ts';
import { openSearches } from './search.ts';
import { write } from './write.ts';

/** Serves file requests below argv[2] until stdin ends, and searches with the ripgrep at argv[3]. Paths below argv[4] are read below argv[5]. */
const root = process.argv[2] ?? '/workspace';
const outputs = { name: process.argv[4] ?? '', place: process.argv[5] ?? '' };
const roots = { root, outputs };
const searches = openSearches({ ...roots, ripgrep: process.argv[3] ?? 'rg' });
process.umask(0o022);

interface Performed {
  output: Operations[Request['operation']]['output'];
  data?: Buffer;
}

async function perform(request: Request): Promise<Performed> {
  switch (request.operation) {
    case 'resolve':
      return { output: whereTo(root, request.input) };
    case 'stat':
      return { output: stat(...below(roots, request.input)) };
    case 'read':
      return read(...below(roots, request.input));
    case 'write':
      return { output: write(root, request.input) };
    case 'list':
      return { output: list(...below(roots, request.input)) };
    case 'glob':
      return { output: await glob(root, request.input) };
    case 'makeDirectory':
      return { output: makeDirectory(root, request.input) };
    case 'remove':
      return { output: remove(root, request.input) };
    case 'move':
      return { output: move(root, request.input) };
    case 'search':
      return { output: await searches.run(request.input, (part, data) => sendPart(request.id, part, data)) };
    case 'cancel':
      return { output: searches.cancel(request.input) };
    default:
      return request satisfies never;
  }
}

async function answer(request: Request): Promise<void> {
  const { id } = request;
  try {
    const { output, data } = await perform(request);
    process.stdout.cork(); // both in one system call
    send({ id, output, data: data?.length });
    if (data) process.stdout.write(data);
    process.stdout.uncork();
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) send({ id, refused: { code: refusal.code, message: refusal.message } });
    else send({ id, failed: error instanceof Error ? error.message : String(error) });
  }
}

/** @returns false when stdout is full */
function sendPart(id: number, part: OutputStream, data: Buffer): boolean {
  process.stdout.cork();
  send({ id, part, data: data.length });
  const hasRoom = process.stdout.write(data);
  process.stdout.uncork();
  return hasRoom;
}

function send(reply: Reply): void {
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

const waiting: Buffer[] = [];
process.stdin.on('data', (chunk: Buffer) => {
  let rest = chunk;
  for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
    waiting.push(rest.subarray(0, end));
    const line = Buffer.concat(waiting.splice(0)).toString('utf8');
    rest = rest.subarray(end + 1);
    void answer(JSON.parse(line) as Request);
  }
  if (rest.length > 0) waiting.push(rest);
});
process.stdin.on('end', () => process.exit(0));
