import { type CopyResult, type CopySettings, type CopyTask, FileCopier } from './copy-files.ts';
import { ImportPack, type PackSettings } from './import-pack.ts';

export type ImportSettings = { readonly pack: PackSettings } & CopySettings;
/** Ends the thread's pack; see `ImportPack.finish`. */
interface FinishTask {
  readonly kind: 'finish';
  readonly isSame: boolean;
}
export type ImportTask = CopyTask | FinishTask;

export interface ImportResults {
  copy: CopyResult;
  finish: undefined;
}

/** The work of an import thread, task by task. */
export class ImportJob {
  readonly #pack: ImportPack;
  readonly #copier: FileCopier;

  constructor(settings: ImportSettings) {
    this.#pack = new ImportPack(settings.pack);
    this.#copier = new FileCopier(settings, this.#pack);
  }

  /** @param onFile called with the size of each finished file; may return a promise to wait for */
  async run(
    task: ImportTask,
    onFile: (size: number) => Promise<void> | undefined,
  ): Promise<ImportResults[typeof task.kind]> {
    switch (task.kind) {
      case 'copy':
        return await this.#copier.copy(task, onFile);
      case 'finish':
        return void (await this.#pack.finish(task.isSame));
      default:
        throw task satisfies never;
    }
  }

  [Symbol.dispose](): void {
    this.#pack[Symbol.dispose]();
  }
}
