import { parentPort, workerData } from 'node:worker_threads';
import { ImportJob, type ImportResults, type ImportSettings, type ImportTask } from './import-job.ts';

export interface ImportRequest {
  readonly id: number;
  readonly task: ImportTask;
}

/** An error, as data. */
export interface ImportFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
}

export type ImportReply =
  /** Finished files of an unfinished task. */
  | { readonly id: number; readonly files: number; readonly bytes: number; readonly isOpen: true }
  | {
      readonly id: number;
      readonly files: number;
      readonly bytes: number;
      readonly result: ImportResults[keyof ImportResults];
    }
  | { readonly id: number; readonly failure: ImportFailure };

/** Files and bytes between two reports of a task. */
const reportEvery = { files: 200, bytes: 16 * 1024 * 1024 };

const job = new ImportJob(workerData as ImportSettings);
let last: Promise<void> = Promise.resolve();
// The thread of an `Importer`: tasks in sequence.
parentPort?.on('message', (request: ImportRequest) => {
  last = last.then(() => perform(request));
});

async function perform({ id, task }: ImportRequest): Promise<void> {
  const done = { files: 0, bytes: 0 };
  try {
    const result = await job.run(task, (size) => {
      done.files += 1;
      done.bytes += size;
      if (done.files >= reportEvery.files || done.bytes >= reportEvery.bytes) {
        post({ id, ...done, isOpen: true });
        Object.assign(done, { files: 0, bytes: 0 });
      }
      return undefined;
    });
    post({ id, ...done, result });
  } catch (error) {
    const { message, code, syscall } = error as NodeJS.ErrnoException;
    post({ id, failure: { message, code, syscall } });
  }
}

function post(reply: ImportReply): void {
  parentPort?.postMessage(reply);
}
