/** Facts of files with another number were extracted by other rules and must not be kept. */
export const extractorVersion = 3;
