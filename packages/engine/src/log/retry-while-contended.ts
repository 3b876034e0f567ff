import { EngineError } from '../domain/index.ts';

const mostTries = 20;

/** For a loop that repeats an optimistic change until its conditions held. @throws EngineError `contended` */
export function checkTries(subject: string, tries: number): void {
  if (tries >= mostTries) throw new EngineError('contended', `other writers kept changing ${subject}`);
}

/** Repeats an optimistic change until its conditions held. @throws EngineError `contended` */
export async function retryWhileContended(subject: string, change: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await change()); ) checkTries(subject, ++tries);
}
