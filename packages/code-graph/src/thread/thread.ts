import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { CodeGraphError } from '../errors.ts';
import type { Posted, Reply } from './messages.ts';
import { RunGraphs } from './run-graphs.ts';

// 0 means this thread only: on Linux each thread has a priority. The event loop of the process comes first.
setPriority(0, 10);

const graphs = new RunGraphs();

parentPort?.on('message', (posted: Posted) => parentPort?.postMessage(reply(posted)));

function reply({ id, place, request }: Posted): Reply {
  try {
    return { id, outcome: graphs.perform(place, request) };
  } catch (error) {
    if (!(error instanceof CodeGraphError)) return { id, error };
    const { code, message, next } = error;
    return { id, refused: { code, message, next } };
  }
}
