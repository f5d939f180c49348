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
