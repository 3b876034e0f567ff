import { EngineError } from '../domain/index.ts';

const mostTries = 20;

/** Repeats an optimistic change until its conditions held. @throws EngineError `contended` */
export async function retryWhileContended(subject: string, change: () => Promise<boolean>): Promise<void> {
  for (let count = 0; count < mostTries; count++) if (await change()) return;
  throw new EngineError('contended', `other writers kept changing ${subject}`);
}
