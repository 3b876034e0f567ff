/** A part of the set-up could not be done. `next` says what the reader can do about it. */
export class SetupError extends Error {
  /**
   * @param {string} message what happened
   * @param {string} next what to do next
   */
  constructor(message, next) {
    super(message);
    this.name = 'SetupError';
    this.next = next;
  }
}
