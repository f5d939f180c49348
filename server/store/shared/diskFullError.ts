import { ApiError } from '../../../api/contract/apiError.ts'

/** The refusal of a mutation for which the disk has no space; nothing was changed. */
export class DiskFullError extends ApiError {
  /** `cause` is the error of the database, if it was asked. */
  constructor(place: 'data folder' | 'database', cause?: unknown) {
    super('internal', `the disk of the ${place} is full: nothing was changed; free some space`, { cause })
  }
}
