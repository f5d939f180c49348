import { type Html, html } from '../../../web/html.ts'

interface FieldFacts {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  /** What is wrong with the value; `undefined` for nothing. */
  readonly fault?: string | undefined
}

/** Options of a text field. */
export interface TextField extends FieldFacts {
  readonly value?: string | undefined
  readonly type?: 'text' | 'email' | 'url' | 'number' | 'search' | 'date' | 'datetime-local'
  readonly autocomplete?: string
  readonly isRequired?: boolean
}

/** A field with one line of text. Pure. */
export function textField(field: TextField): Html {
  const { name, value = '', type = 'text', autocomplete = 'off', isRequired = true } = field
  return labelled(
    field,
    html`<input id="f-${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${isRequired && html` required`}${described(field)}>`,
  )
}

/** A field for a password; it is never filled in again. Pure. */
export function passwordField(
  field: FieldFacts & { readonly autocomplete: 'current-password' | 'new-password' },
): Html {
  const { name, autocomplete } = field
  return labelled(
    field,
    html`<input id="f-${name}" name="${name}" type="password" autocomplete="${autocomplete}" required${described(field)}>`,
  )
}

/** The account of a form for a password, for password managers only: it is neither shown nor sent. Pure. */
export function accountField(email: string): Html {
  return html`<input class="unseen" type="text" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">`
}

/** A field with several lines. Pure. */
export function textArea(
  field: FieldFacts & { readonly value?: string | undefined; readonly rows?: number },
): Html {
  const { name, value = '', rows = 4 } = field
  return labelled(
    field,
    // A line break behind the tag is not part of the value.
    html`<textarea id="f-${name}" name="${name}" rows="${rows}"${described(field)}>\n${value}</textarea>`,
  )
}

/** A field that offers values with their names. Pure. */
export function selectField(
  field: FieldFacts & {
    readonly value?: string | undefined
    readonly options: readonly (readonly [value: string, name: string])[]
  },
): Html {
  const { name, value, options } = field
  return labelled(
    field,
    html`<select id="f-${name}" name="${name}"${described(field)}>${options.map(
      ([one, text]) => html`<option value="${one}"${one === value && html` selected`}>${text}</option>`,
    )}</select>`,
  )
}

function labelled({ name, label, hint, fault }: FieldFacts, input: Html): Html {
  return html`<div class="field"><label for="f-${name}">${label}</label>
${hint !== undefined && html`<p class="hint" id="h-${name}">${hint}</p>`}
${input}
${fault !== undefined && html`<p class="fault" id="e-${name}">${fault}</p>`}</div>`
}

function described({ name, hint, fault }: FieldFacts): Html {
  const ids = [fault === undefined ? '' : `e-${name}`, hint === undefined ? '' : `h-${name}`].filter(
    (id) => id !== '',
  )
  return html`${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${fault !== undefined && html` aria-invalid="true"`}`
}
