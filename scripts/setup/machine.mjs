/**
 * The machine, as known to the parts of the set-up.
 *
 * @typedef {object} Machine
 * @property {string} root the project's directory, absolute
 * @property {NodeJS.Platform} platform
 * @property {string} arch
 * @property {string} nodeVersion version of the running Node, such as `22.22.0`
 * @property {string} execPath the running Node
 * @property {NodeJS.ProcessEnv} env
 * @property {boolean} production leave development dependencies out
 * @property {(text: string) => void} progress prints a line on standard error
 */

/** The part of a {@link Machine} for finding programs. @typedef {Pick<Machine, 'env'>} WithEnvironment */

export {};
