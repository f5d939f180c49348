import { ApiError } from '../../../api/contract/apiError.ts'
import { ResultsBusyError } from '../../results/threads/resultsBusyError.ts'
import { DiskFullError } from '../../store/shared/diskFullError.ts'
import { PasswordsBusyError } from '../credentials/passwordHasher.ts'
import { messagePage, NOT_FOUND_PAGE } from './messagePages.ts'
import type { Page } from './route.ts'

/** The page for an error of a handler. Unexpected errors are reported to `onError`. */
export function pageOfError(error: unknown, onError: (error: unknown) => void): Page {
  if (error instanceof PasswordsBusyError) {
    const page = messagePage(503, 'Busy', 'Too many people are signing in. Try again in a moment.')
    return { ...page, retryAfterS: error.retryAfterS, mayResend: true }
  }
  if (error instanceof ResultsBusyError) {
    return messagePage(
      503,
      'Not available',
      'Check results cannot be read at present. Try again in a moment.',
    )
  }
  if (error instanceof ApiError) {
    if (error.code === 'not_found') return NOT_FOUND_PAGE
    if (error.code === 'invalid' || error.code === 'forbidden') {
      return messagePage(422, 'Not changed', sentence(error.message))
    }
    if (error.code === 'conflict') {
      return messagePage(409, 'Not changed', `${sentence(error.message)} Open the page again.`)
    }
    if (error.code === 'bad_gateway') return messagePage(502, 'Not confirmed', sentence(error.message))
    if (error.code === 'internal' && error.retryAfterSecs !== undefined) {
      const text = 'The database does not respond, and nothing was changed. Try again in a moment.'
      const page = messagePage(503, 'Not available', text)
      return { ...page, retryAfterS: error.retryAfterSecs, mayResend: true }
    }
    // The check for disk space logs it.
    if (error instanceof DiskFullError) return messagePage(500, 'Not changed', sentence(error.message))
    if (error.code === 'unavailable') return messagePage(503, 'Not available', sentence(error.message))
  }
  const status = statusOf(error)
  if (status === 413) return messagePage(413, 'Too large', 'The form is too large. Nothing was changed.')
  if (status === 415) return messagePage(415, 'Unsupported format', 'Only forms are accepted here.')
  if (status !== undefined && status < 500)
    return messagePage(400, 'Malformed request', 'The request cannot be read.')
  onError(error)
  return messagePage(500, 'Error', 'An unexpected error occurred. The server log has the details.')
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode
  }
  return undefined
}

function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`
}
