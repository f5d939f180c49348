/** Results cannot be stored or read at present: retry later. */
export class ResultsBusyError extends Error {}
