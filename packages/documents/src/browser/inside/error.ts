import type { NoShot } from '../protocol.ts';

export class ShotError extends Error {
  readonly problem: NoShot['problem'];

  constructor(problem: NoShot['problem'], message: string) {
    super(message);
    this.problem = problem;
  }
}
