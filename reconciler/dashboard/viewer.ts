import type { ControllerStatus } from '../controller/status/status.ts'

/** The result of an action, shown once. */
export interface Message {
  readonly isDone: boolean
  readonly text: string
}

/** The viewer of a page: `none` when sign-in is disabled, `guest` before sign-in. */
export type Viewer =
  | { readonly kind: 'none' }
  | { readonly kind: 'guest' }
  | { readonly kind: 'person'; readonly name: string; readonly message: Message | null }

/** The request for a page. */
export interface PageRequest {
  readonly status: ControllerStatus
  /** Address of the routes below /api, for commands on the page; null when disabled. */
  readonly apiUrl: string | null
  readonly isRefreshing: boolean
  readonly viewer: Viewer
}
