/** A part of the set-up failed. `next` says what the user can do. */
export class SetupError extends Error {
  /**
   * @param {string} message what happened
   * @param {string} next what the user can do
   */
  constructor(message, next) {
    super(message);
    this.name = 'SetupError';
    this.next = next;
  }
}
