/** What became of an action, shown once. */
export interface Message {
  readonly isDone: boolean
  readonly text: string
}

/** Who looks at a page: `none` where no person can sign in, `guest` before that. */
export type Viewer =
  | { readonly kind: 'none' }
  | { readonly kind: 'guest' }
  | { readonly kind: 'person'; readonly name: string; readonly message: Message | null }
