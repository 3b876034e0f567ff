/** A part of the set-up failed. `next` has the user's next step. */
export class SetupError extends Error {
  /**
   * @param {string} message the failure
   * @param {string} next the user's next step
   */
  constructor(message, next) {
    super(message);
    this.name = 'SetupError';
    this.next = next;
  }
}
