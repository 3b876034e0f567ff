import type { ModelUsage } from '@holdpoint/contract';
import { ModelError } from '@holdpoint/models';

/** A provider withheld an answer, and the run has another model to ask. The tokens of the answer count all the same. */
export class WithheldError extends ModelError {
  readonly usage: ModelUsage;

  constructor(model: string, usage: ModelUsage) {
    super({
      code: 'EMODELPOLICY',
      message: `${model} withheld its answer by the policy of its provider`,
      next: 'Say the task in other words, or use another model: add one to the fallbacks of the run.',
    });
    this.usage = usage;
  }
}
