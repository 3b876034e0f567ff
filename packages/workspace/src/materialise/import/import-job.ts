import { type CopyResult, type CopySettings, type CopyTask, FileCopier } from './copy-files.ts';
import { ImportPack, type PackSettings } from './import-pack.ts';
import { type ObjectsResult, type ObjectsTask, takeObjects } from './take-objects.ts';

export type ImportSettings = { readonly pack: PackSettings } & CopySettings;
/** Ends the thread's pack; see `ImportPack.finish`. */
interface FinishTask {
  readonly kind: 'finish';
  readonly isSame: boolean;
}
export type ImportTask = CopyTask | ObjectsTask | FinishTask;

export interface ImportResults {
  copy: CopyResult;
  objects: ObjectsResult;
  finish: undefined;
}

/** What one thread of an import does, task by task. */
export class ImportJob {
  readonly #settings: ImportSettings;
  readonly #pack: ImportPack;
  readonly #copier: FileCopier;

  constructor(settings: ImportSettings) {
    this.#settings = settings;
    this.#pack = new ImportPack(settings.pack);
    this.#copier = new FileCopier(settings, this.#pack);
  }

  /** @param onFile called with the size of each file that is done; may return a promise to wait for */
  async run(
    task: ImportTask,
    onFile: (size: number) => Promise<void> | undefined,
  ): Promise<ImportResults[typeof task.kind]> {
    switch (task.kind) {
      case 'copy':
        return await this.#copier.copy(task, onFile);
      case 'objects': {
        const { owner, learns } = this.#settings;
        return await takeObjects({ pack: this.#pack, owner, learns: learns === 'copy' }, task, onFile);
      }
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
