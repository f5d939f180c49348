/** Results cannot be stored or read at present: ask again, and send again. */
export class ResultsBusyError extends Error {}
