import { createHash } from 'node:crypto'

/** A file that pages refer to. */
export interface Asset {
  readonly type: string
  readonly body: string
}

/** Name of a file that changes with its content, because browsers cache it for a year. Pure. */
export function versionedName(name: string, extension: string, content: string): string {
  return `${name}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}.${extension}`
}

/** The icon of a page in browser tabs. */
export const FAVICON: Asset = {
  type: 'image/svg+xml; charset=utf-8',
  body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2a6f97"/><path d="M5 17h6l3-8 5 15 3-7h5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
}
