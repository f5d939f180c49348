/** Style of forms and buttons. */
export const FORM_STYLE = `
form { margin: 0; } main > form { margin-bottom: 1.25rem; }
.field { margin: 0 0 .9rem; }
.field > label, legend { display: block; font-weight: 600; margin: 0 0 .25rem; }
.field > .hint { color: var(--quiet); font-size: .875rem; margin: 0 0 .25rem; }
.fault { color: var(--bad); font-weight: 600; margin: .25rem 0 0; }
.filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); gap: 0 1rem; align-items: end; } .filters input:not([type]), .filters input[type="search"], .filters select, .filters button { height: 2.5rem; }
fieldset { border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 .9rem; padding: .6rem .9rem; }
input, textarea { unicode-bidi: plaintext; } input, select, textarea { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--quiet); border-radius: .35rem; padding: .42rem .6rem; max-width: 100%; }
.field > input, .field > textarea { width: 100%; max-width: 34rem; }
.field > textarea { max-width: none; min-height: 6rem; } textarea.mono { font-size: .9375rem; }
input[type="checkbox"], input[type="radio"] { width: 1.15rem; height: 1.15rem; margin: 0 .5rem 0 0; vertical-align: -.15rem; accent-color: var(--link); }
.choice { display: block; padding: .2rem 0; }
[aria-invalid="true"] { border-color: var(--bad); border-width: 2px; }
button, .button { font: inherit; font-weight: 600; min-height: 2.25rem; padding: .4rem .9rem; border-radius: .4rem; border: 1px solid var(--quiet); background: var(--sheet); color: inherit; cursor: pointer; text-decoration: none; display: inline-block; white-space: nowrap; }
button:hover, .button:hover { border-color: var(--link); }
button.main, .button.main { background: var(--link); border-color: var(--link); color: var(--mark); }
button.danger { color: var(--bad); border-color: var(--bad); }
button.plain { border: 0; background: none; padding: .2rem 0; min-height: 1.5rem; font-weight: 400; color: var(--link); text-decoration: underline; }
`
