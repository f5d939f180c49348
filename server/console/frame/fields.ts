import { type Html, html } from '../../../web/html.ts'

interface FieldFacts {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  /** The problem of the value; `undefined` for none. */
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

/** A password field, which is never filled in again. Pure. */
export function passwordField(
  field: FieldFacts & { readonly autocomplete: 'current-password' | 'new-password' },
): Html {
  const { name, autocomplete } = field
  return labelled(
    field,
    html`<input id="f-${name}" name="${name}" type="password" autocomplete="${autocomplete}" required${described(field)}>`,
  )
}

/** A hidden field with the account name, for password managers; it is not sent. Pure. */
export function accountField(email: string): Html {
  return html`<input class="unseen" type="text" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">`
}

/** A field with several lines, of text or of code. Pure. */
export function textArea(
  field: FieldFacts & {
    readonly value?: string | undefined
    readonly rows?: number
    readonly isCode?: boolean
  },
): Html {
  const { name, value = '', rows = 4, isCode = false } = field
  return labelled(
    field,
    // Browsers ignore a line break after the tag.
    html`<textarea id="f-${name}" name="${name}" rows="${rows}"${isCode && html` class="mono" spellcheck="false" autocapitalize="off"`}${described(field)}>\n${value}</textarea>`,
  )
}

/** A field with a choice of values. Pure. */
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
${faultText(name, fault)}</div>`
}

/** The problem of a field below it; nothing for `undefined`. Pure. */
export function faultText(name: string, fault: string | undefined): Html | false {
  return fault !== undefined && html`<p class="fault" id="e-${name}">${sentence(fault)}</p>`
}

/** Attribute of a field with a problem. The script moves the focus to the first one, or to an ALERT above it. */
export const INVALID = html` aria-invalid="true"`

/** Attributes of a message about a problem. */
export const ALERT = html` role="alert" tabindex="-1"`

/** `text` with a capital letter, unless it begins with a place in a definition, such as `endpoints[0].url: `. */
function sentence(text: string): string {
  if (/^[\w.[\]]+: /.test(text)) return text
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

function described({ name, hint, fault }: FieldFacts): Html {
  const ids = [fault === undefined ? '' : `e-${name}`, hint === undefined ? '' : `h-${name}`].filter(
    (id) => id !== '',
  )
  return html`${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${fault !== undefined && INVALID}`
}

/** Field with the question of a pressed button, as long as it is not confirmed. */
export const QUESTION_FIELD = 'question'

/**
 * Attributes of a button for an action that cannot be undone. The script asks `question` before it sends the form;
 * without the script, a page asks it after. Pure.
 */
export function asking(question: string): Html {
  return html` class="danger" name="${QUESTION_FIELD}" value="${question}"`
}

/** Hidden fields that send a form again, without its field `except`. Pure. */
export function carriedFields(form: URLSearchParams, except: string): readonly Html[] {
  return [...form].flatMap(([name, value]) =>
    name === except ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  )
}

/** A notice above a form about a problem that belongs to no field; nothing for `undefined`. Pure. */
export function problemNotice(problem: string | undefined): Html | false {
  return problem !== undefined && html`<p class="notice bad"${ALERT}>${sentence(problem)}</p>`
}

/** Links to the neighbouring pages of a list, labelled `label`; nothing for a single page. Pure. */
export function pageLinks(
  label: string,
  { page, pages }: { readonly page: number; readonly pages: number },
  pathOf: (page: number) => string,
): Html | false {
  return (
    pages > 1 &&
    html`<nav class="pages" aria-label="${label}">${page > 1 && html`<a href="${pathOf(page - 1)}" rel="prev">Previous</a>`}<span>Page ${page} of ${pages}</span>${page < pages && html`<a href="${pathOf(page + 1)}" rel="next">Next</a>`}</nav>`
  )
}
